import { type Config, options } from './config-table.ts';
import { parseRedisUrl } from './state/redis/redis-url.ts';
import { unknownSettings } from './unknown-settings.ts';

export type { Config } from './config-table.ts';

/**
 * Settings are read once and frozen. Nothing else looks at the environment. An empty variable counts as not set, and all faults are
 * reported at once.
 */

/** All that is wrong with the settings, one line each. Names variables and never shows the value of a secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(
      `the settings are not usable:\n${faults.map((fault) => `  ${fault}`).join('\n')}\nAll settings: docs/OPERATIONS.md`,
    );
    this.faults = faults;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;
/** Besides a public address, short keys are only worth a warning (see `weakKeys`). */
const KEY_BYTES_MIN = 32;
/** Without braces, which would decide where the streams of a Cluster lie; short, since it is part of an event_id. */
const STREAM_PREFIX = /^[\w.:-]{1,64}$/;
const LOOPBACK = /^(127\.\d+\.\d+\.\d+|localhost|::1)$/;

export function readConfig(environment: Environment = process.env): Config {
  const faults: string[] = [];
  const read: Record<string, unknown> = {};
  for (const [key, option] of Object.entries(options)) {
    const given = environment[option.env] ?? '';
    try {
      read[key] = given === '' ? option.default : option.parse(given);
    } catch (error) {
      const shown = option.isSecret ? '' : `, not ${JSON.stringify(given)}`;
      faults.push(`${option.env} must be ${(error as Error).message}${shown}`);
    }
  }
  faults.push(...unknownSettings(environment));
  const config = read as Config;
  if (faults.length === 0) faults.push(...contradictions(config));
  if (faults.length > 0) throw new ConfigError(faults);
  return Object.freeze(config);
}

/** Keys that guess-work could find; only accepted as long as nobody else can reach the server. */
export function weakKeys(config: Config): string[] {
  const keys = ['apiKey', 'apiKeyPrevious', 'tokenSecret', 'tokenSecretPrevious'] as const;
  return keys.flatMap((key) => {
    const value = config[key];
    return value !== null && Buffer.byteLength(value) < KEY_BYTES_MIN ? [options[key].env] : [];
  });
}

/** The demo hands out tokens, so it is only there where nobody else can reach the server. */
export function hasDemo({ demo, host, mysqlUrl }: Config): boolean {
  const isWanted = demo === 'on' || (demo === 'auto' && mysqlUrl === null);
  return isWanted && LOOPBACK.test(host);
}

function contradictions(config: Config): string[] {
  const faults: string[] = [];
  if (!LOOPBACK.test(config.host)) {
    for (const env of weakKeys(config)) {
      faults.push(`${env} must have at least ${KEY_BYTES_MIN} bytes, since TIDEMARK_HOST lets others reach the server`);
    }
  }
  if (config.demo === 'on' && !hasDemo(config)) {
    faults.push(`TIDEMARK_DEMO is on, but TIDEMARK_HOST lets others reach the server`);
  }
  if (config.mysqlUrl !== null && !isDatabaseUrl(config.mysqlUrl)) {
    faults.push(`${options.mysqlUrl.env} must be like mysql://user:password@host:3306/database`);
  }
  if (config.redisUrl !== null) faults.push(...faultsOfRedis(config.redisUrl, config.mysqlUrl));
  faults.push(...faultsOfStreams(config));
  return faults;
}

/** The state is derived from facts that its nodes share, and fenced by them: beside the embedded store there is nothing to share. */
function faultsOfRedis(redisUrl: string, mysqlUrl: string | null): string[] {
  const { env } = options.redisUrl;
  const faults = mysqlUrl === null ? [`${env} is set without ${options.mysqlUrl.env}; they go together`] : [];
  return [...faults, ...faultsOfRedisUrl(env, redisUrl)];
}

function faultsOfStreams({ streamPrefix, streamUrl, redisUrl }: Config): string[] {
  const faults = streamUrl === null ? [] : faultsOfRedisUrl(options.streamUrl.env, streamUrl);
  if (streamPrefix === '') return faults;
  if (!STREAM_PREFIX.test(streamPrefix)) {
    faults.push(`${options.streamPrefix.env} must be up to 64 letters, digits, and . : _ -`);
  }
  if (streamUrl === null && redisUrl === null) {
    faults.push(`${options.streamPrefix.env} is set, but neither ${options.streamUrl.env} nor ${options.redisUrl.env}`);
  }
  return faults;
}

function faultsOfRedisUrl(env: string, url: string): string[] {
  try {
    parseRedisUrl(url);
    return [];
  } catch (error) {
    return [`${env} has ${(error as Error).message}`];
  }
}

function isDatabaseUrl(given: string): boolean {
  if (!URL.canParse(given)) return false;
  const { protocol, hostname, pathname } = new URL(given);
  return protocol === 'mysql:' && hostname !== '' && /^\/[^/]+$/.test(pathname);
}
