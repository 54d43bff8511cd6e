import { parseArgs } from 'node:util';
import type { Scale, Scenario } from './scenario.ts';

export interface Options {
  readonly scenario: Scenario;
  readonly scale: Scale;
  readonly seed: number;
  /** Null: a server is started here. */
  readonly gateways: { readonly urls: readonly string[]; readonly apiKey: string; readonly tokenSecret: string } | null;
  /** Where the figures go as JSON. */
  readonly file: string | null;
}

export function readOptions(scenarios: readonly Scenario[], args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      url: { type: 'string', multiple: true },
      'api-key': { type: 'string' },
      'token-secret': { type: 'string' },
      seconds: { type: 'string' },
      rate: { type: 'string' },
      connections: { type: 'string' },
      seed: { type: 'string', default: '1' },
      json: { type: 'string' },
    },
  });
  const [name, ...others] = positionals;
  const scenario = scenarios.find((one) => one.name === name);
  if (scenario === undefined || others.length > 0) {
    throw new Error(`name one scenario: ${scenarios.map((one) => one.name).join(', ')}`);
  }
  const { defaults } = scenario;
  const apiKey = values['api-key'];
  const tokenSecret = values['token-secret'];
  if ((values.url === undefined) !== (apiKey === undefined) || (apiKey === undefined) !== (tokenSecret === undefined)) {
    throw new Error('--url, --api-key and --token-secret go together');
  }
  for (const url of values.url ?? []) {
    if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new Error(`--url takes http://host:port, not ${url}`);
  }
  return {
    scenario,
    scale: {
      seconds: number('--seconds', values.seconds, defaults.seconds),
      rate: number('--rate', values.rate, defaults.rate),
      connections: whole('--connections', values.connections, defaults.connections),
    },
    seed: whole('--seed', values.seed, 1),
    gateways:
      values.url === undefined ? null : { urls: values.url, apiKey: apiKey ?? '', tokenSecret: tokenSecret ?? '' },
    file: values.json ?? null,
  };
}

function number(name: string, given: string | undefined, standard: number): number {
  const value = given === undefined ? standard : Number(given);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new Error(`${name} takes a number above 0, not ${given}`);
}

function whole(name: string, given: string | undefined, standard: number): number {
  const value = number(name, given, standard);
  if (Number.isSafeInteger(value)) return value;
  throw new Error(`${name} takes a whole number, not ${given}`);
}
