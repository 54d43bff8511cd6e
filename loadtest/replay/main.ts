/**
 * npm run replay -- FOLDER [--speed N] [--url URL … --api-key K --token-secret S] [--nodes N] [--kill N] [--seed N]
 *
 * Sends a recorded history through the HTTP API while its devices come and go over real sockets and ack as they did, and compares
 * at each checkpoint what every connected device shows, and what GET answers for everybody else, with the expected numbers.
 * Exit 0: not one wrong number. 1: something was wrong (the first ten are named). 2: it could not be played.
 */
import { parseArgs } from 'node:util';
import { randomOf } from '../random.ts';
import { printTable } from '../table.ts';
import { Target } from '../target.ts';
import { play } from './play.ts';
import { Progress } from './progress.ts';
import { readCheckpoints } from './trace.ts';

const NAMED_MAX = 10;

interface Options {
  readonly folder: string;
  readonly speed: number | null;
  readonly kills: number;
  readonly seed: number;
  readonly nodes: number;
  readonly urls: readonly string[];
  readonly apiKey: string | undefined;
  readonly tokenSecret: string | undefined;
}

function readOptions(): Options {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      speed: { type: 'string' },
      url: { type: 'string', multiple: true, default: [] },
      nodes: { type: 'string', default: '1' },
      'api-key': { type: 'string' },
      'token-secret': { type: 'string' },
      kill: { type: 'string', default: '0' },
      seed: { type: 'string', default: '1' },
    },
  });
  const [folder] = positionals;
  if (folder === undefined || positionals.length > 1) throw new Error('name one folder with a trace');
  const speed = values.speed === undefined ? null : Number(values.speed);
  if (speed !== null && !(speed > 0)) throw new Error('--speed takes a number above 0');
  const kills = Number(values.kill);
  if (!Number.isSafeInteger(kills) || kills < 0) throw new Error('--kill takes a whole number');
  const nodes = Number(values.nodes);
  if (!Number.isSafeInteger(nodes) || nodes < 1) throw new Error('--nodes takes a whole number from 1');
  if (values.url.length > 0 && !(values['api-key'] && values['token-secret'])) {
    throw new Error('--url needs --api-key and --token-secret');
  }
  if (values.url.length > 0 && kills > 0) throw new Error('--kill needs a server that is started here, not --url');
  return {
    folder,
    speed,
    kills,
    seed: Number(values.seed),
    nodes,
    urls: values.url,
    apiKey: values['api-key'],
    tokenSecret: values['token-secret'],
  };
}

async function main(options: Options): Promise<boolean> {
  const { folder, speed, kills, seed } = options;
  const end = readCheckpoints(folder).at(-1)?.at ?? 0;
  const target =
    options.urls.length === 0
      ? await Target.start({ nodes: options.nodes, settings: storesOf(process.env) })
      : Target.at(options.urls, { apiKey: options.apiKey ?? '', tokenSecret: options.tokenSecret ?? '' });
  const progress = new Progress(end);
  const faults = momentsOf(kills, seed, end).map((at) => ({ name: 'killed', at, strike: () => target.crash() }));
  try {
    const { wrong, figures } = await play({
      folder,
      target,
      speed,
      faults,
      onProgress: (at, events) => progress.show(at, events),
      say: (text) => progress.say(text),
    });
    progress.end();
    printTable(figures);
    for (const text of wrong.slice(0, NAMED_MAX)) console.log(`wrong: ${text}`);
    return wrong.length === 0;
  } finally {
    await target.stop();
  }
}

/** The nodes started here run on the stores that the environment names, if it does. */
function storesOf(env: NodeJS.ProcessEnv): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const name of ['TIDEMARK_MYSQL_URL', 'TIDEMARK_REDIS_URL']) {
    const url = env[name];
    if (url !== undefined && url !== '') settings[name] = url;
  }
  return settings;
}

/** Moments of the trace at which the server is killed, the same for the same seed. */
function momentsOf(count: number, seed: number, end: number): number[] {
  const random = randomOf(seed);
  return Array.from({ length: count }, () => Math.floor(random.fraction() * end)).toSorted((a, b) => a - b);
}

try {
  process.exitCode = (await main(readOptions())) ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
