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

/**
 * The largest legal events in ASCII ids: a list of 10,000 users of 128 bytes is 10,000 × (128 + 3) = 1.3 MB, and 500 messages of
 * four such ids are 500 × (4 × 140 + 150) = 0.4 MB. In the worst spelling, every byte of an id written as a six-letter escape, the
 * first is 7.7 MB and the second 1.9 MB: two long lists, or 500 messages and one, fit into one body however they are written.
 */
const BODY_BYTES_MAX = 16 * 2 ** 20;

/** All settings; docs/OPERATIONS.md shows the same table. */
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
