import { limits } from '../protocol/index.ts';
import {
  DAY_MS,
  durationMs,
  flag,
  HOUR_MS,
  integer,
  MINUTE_MS,
  oneOf,
  type Option,
  originList,
  SECOND_MS,
  secret,
  text,
} from './config-option.ts';
import { parseRedisUrl } from './state/redis/redis-url.ts';

/**
 * Settings: one table, read once, frozen. Nothing else looks at the environment. docs/OPERATIONS.md shows the same table.
 * An empty variable counts as not set. All faults are reported at once, and a variable that begins with TIDEMARK_ and is not
 * in the table is a fault, since a misspelt setting that is silently ignored is found at the worst of times.
 */
/**
 * The largest legal events in ASCII ids: a list of 10,000 users of 128 bytes is 10,000 × (128 + 3) = 1.3 MB, and 500 messages of
 * four such ids are 500 × (4 × 140 + 150) = 0.4 MB. In the worst spelling, every byte of an id written as a six-letter escape, the
 * first is 7.7 MB and the second 1.9 MB: two long lists, or 500 messages and one, fit into one body however they are written.
 */
const BODY_BYTES_MAX = 16 * 2 ** 20;

export const options = {
  host: text('TIDEMARK_HOST', '127.0.0.1', 'Address to listen on.'),
  port: integer(
    'TIDEMARK_PORT',
    8080,
    0,
    65_535,
    'port',
    'Port to listen on; 0 takes any free one, which the ready line names.',
  ),
  dataDir: text(
    'TIDEMARK_DATA_DIR',
    'data',
    'Folder of the embedded store and of the keys made on first start; relative to the folder that the program is started in.',
  ),
  apiKey: secret(
    'TIDEMARK_API_KEY',
    'Key of the server API. Not set: made on first start and kept in the data folder (api-key).',
  ),
  apiKeyPrevious: secret(
    'TIDEMARK_API_KEY_PREVIOUS',
    'A second key that is accepted too, so that keys can be changed without a gap.',
  ),
  tokenSecret: secret(
    'TIDEMARK_TOKEN_SECRET',
    'HS256 secret of user tokens. Not set: made on first start and kept in the data folder (token-secret).',
  ),
  tokenSecretPrevious: secret('TIDEMARK_TOKEN_SECRET_PREVIOUS', 'A second secret that is accepted too.'),
  tokenAudience: text('TIDEMARK_TOKEN_AUDIENCE', '', 'If set, user tokens must name it as aud.'),
  tokenIssuer: text('TIDEMARK_TOKEN_ISSUER', '', 'If set, user tokens must name it as iss.'),
  allowedOrigins: originList(
    'TIDEMARK_ALLOWED_ORIGINS',
    'Origins of browser pages that may connect, besides pages served by the same host; scheme://host[:port], separated by spaces.',
  ),
  mysqlUrl: secret(
    'TIDEMARK_MYSQL_URL',
    'Truth in MySQL or MariaDB: mysql://user:password@host:3306/database. Not set: a file in the data folder.',
  ),
  redisUrl: secret(
    'TIDEMARK_REDIS_URL',
    "Users' state in Redis or Valkey, from 7.0, beside truth in MySQL: redis://[user:password@]host[:port][/db], redis+sentinel://host[:port],…/master-name, or redis+cluster://host[:port],…; rediss for TLS. Not set: in memory, for one server alone.",
  ),
  streamPrefix: text(
    'TIDEMARK_STREAM_PREFIX',
    '',
    'Also read events from the Redis streams <prefix>:{0}, <prefix>:{1}, … (docs/STREAM.md); letters, digits, and . : _ -. Not set: no streams.',
  ),
  streamPartitions: integer(
    'TIDEMARK_STREAM_PARTITIONS',
    16,
    1,
    256,
    'streams',
    'How many streams there are. The same for all nodes and producers.',
  ),
  streamUrl: secret(
    'TIDEMARK_STREAM_URL',
    'Redis that holds the streams, if it is another than TIDEMARK_REDIS_URL; it must keep what it is given.',
  ),
  groupThreshold: integer(
    'TIDEMARK_GROUP_THRESHOLD',
    limits.groupThresholdDefault,
    1,
    1_000_000,
    'members',
    'Conversations with more members are large: fanned out to connected members only, and capped at 999 (CN8).',
  ),
  heartbeatMs: durationMs(
    'TIDEMARK_HEARTBEAT_MS',
    limits.heartbeatMsDefault,
    50,
    HOUR_MS,
    'Time between heartbeats of a socket.',
  ),
  helloTimeoutMs: durationMs(
    'TIDEMARK_HELLO_TIMEOUT_MS',
    limits.helloTimeoutMs,
    50,
    MINUTE_MS,
    'A socket without a hello is closed after this time (DT5).',
  ),
  connectionsMax: integer('TIDEMARK_CONNECTIONS_MAX', 100_000, 1, 10_000_000, 'sockets', 'Sockets of this node.'),
  connectionsPerUserMax: integer(
    'TIDEMARK_CONNECTIONS_PER_USER_MAX',
    10,
    1,
    10_000,
    'sockets',
    'Sockets of one user on this node; one more, and the oldest is sent away with 4103.',
  ),
  connectionsPerAddressMax: integer(
    'TIDEMARK_CONNECTIONS_PER_ADDRESS_MAX',
    1000,
    1,
    10_000_000,
    'sockets',
    'Sockets of one IPv4 address or one IPv6 /64; loopback addresses are not counted.',
  ),
  framesPerSecond: integer(
    'TIDEMARK_FRAMES_PER_SECOND',
    500,
    1,
    1_000_000,
    'frames',
    'Frames of one socket in the long run; above it the socket is read more slowly.',
  ),
  framesBurst: integer('TIDEMARK_FRAMES_BURST', 1000, 1, 1_000_000, 'frames', 'Frames of one socket at once.'),
  requestsInFlightMax: integer(
    'TIDEMARK_REQUESTS_IN_FLIGHT_MAX',
    1000,
    1,
    100_000,
    'requests',
    'HTTP requests being answered at once; more get 503 and Retry-After.',
  ),
  pullsPerSecondMax: integer(
    'TIDEMARK_PULLS_PER_SECOND_MAX',
    20,
    1,
    100_000,
    'requests',
    'GET /v1/sync of one user, averaged over five seconds; more get 429 and Retry-After.',
  ),
  bodyBytesMax: integer(
    'TIDEMARK_BODY_BYTES_MAX',
    BODY_BYTES_MAX,
    1024,
    2 ** 30,
    'bytes',
    'Largest body of an HTTP request.',
  ),
  drainMs: durationMs(
    'TIDEMARK_DRAIN_MS',
    10 * SECOND_MS,
    0,
    HOUR_MS,
    'Window over which clients are told to come back when the server stops.',
  ),
  stateUsersMax: integer(
    'TIDEMARK_STATE_USERS_MAX',
    100_000,
    1,
    10_000_000,
    'users',
    'Users whose state is held in memory; the least recently used are forgotten and built from truth when they come back.',
  ),
  reconcileIntervalMs: durationMs(
    'TIDEMARK_RECONCILE_INTERVAL_MS',
    MINUTE_MS,
    0,
    30 * DAY_MS,
    'Time between background comparisons of users with truth; 0 turns them off.',
  ),
  reconcileUsersMax: integer(
    'TIDEMARK_RECONCILE_USERS_MAX',
    200,
    1,
    1_000_000,
    'users',
    'Users of one background comparison; the next goes on after them.',
  ),
  eventIdRetentionMs: durationMs(
    'TIDEMARK_EVENT_ID_RETENTION_MS',
    7 * DAY_MS,
    MINUTE_MS,
    3650 * DAY_MS,
    'How long an event_id is remembered.',
  ),
  demo: oneOf(
    'TIDEMARK_DEMO',
    'auto',
    ['auto', 'on', 'off'],
    'The page under /demo, for the machine that the server runs on. auto: where TIDEMARK_HOST lets nobody else in and the store is embedded.',
  ),
  inspector: oneOf(
    'TIDEMARK_INSPECTOR',
    'loopback',
    ['off', 'loopback', 'on'],
    'The page under /inspect, which asks for the API key. loopback: for the machine that the server runs on.',
  ),
  metricsOpen: flag('TIDEMARK_METRICS_OPEN', false, 'Answer GET /metrics without an API key.'),
  logLevel: oneOf(
    'TIDEMARK_LOG_LEVEL',
    'info',
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    'Least level that is logged.',
  ),
} as const satisfies Record<string, Option<unknown>>;

export type Config = { readonly [K in keyof typeof options]: (typeof options)[K] extends Option<infer T> ? T : never };

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
/** More letters than these apart, or than half of it behind TIDEMARK_, a name is another name and not a misspelt one. */
const LIKENESS_LETTERS_MAX = 4;
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
  faults.push(...unknownVariables(environment));
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

function unknownVariables(environment: Environment): string[] {
  const known = Object.values(options).map(({ env }) => env);
  const unknown = Object.keys(environment).filter((name) => name.startsWith('TIDEMARK_') && !known.includes(name));
  return unknown.map((name) => {
    const [nearest] = known.toSorted((a, b) => editDistance(name, a) - editDistance(name, b));
    const lettersMax = Math.min(LIKENESS_LETTERS_MAX, (name.length - 'TIDEMARK_'.length) / 2);
    const isNear = nearest !== undefined && editDistance(name, nearest) <= lettersMax;
    return `${name} is no setting${isNear ? `; did you mean ${nearest}?` : ''}`;
  });
}

/** Letters to insert, delete or replace (Levenshtein). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
