import { Redis } from 'ioredis';
import type { Random } from '../../ports.ts';
import type { Endpoint, RedisUrl } from './redis-url.ts';

const CONNECT_TIMEOUT_MS = 2000;
/** A call is answered or refused within 3 s, whatever the store does; a pair of calls one behind the other too, in nearly all cases. */
const COMMAND_TIMEOUT_MS = 2500;
/** A server that says nothing while it owes answers is given up: its connection is cut, and looked for anew. */
const SOCKET_TIMEOUT_MS = 3000;
const RECONNECT_MS_MAX = 1000;
const KEEP_ALIVE_MS = 10_000;

/** `endpoint`: one node of a Cluster; without it the server, or the master, that the URL names. */
export function connectRedis(url: RedisUrl, random: Random, endpoint?: Endpoint): Redis {
  const options = {
    ...(url.username === undefined ? {} : { username: url.username }),
    ...(url.password === undefined ? {} : { password: url.password }),
    ...(url.isTls ? { tls: {} } : {}),
    db: url.db,
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: COMMAND_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    keepAlive: KEEP_ALIVE_MS,
    // What broke off is not sent again and nothing is queued (ARCHITECTURE, truth and state): the caller is told at once.
    autoResendUnfulfilledCommands: false,
    // Done by whoever subscribes (subscription.ts): the driver lets nobody catch what goes wrong with its own.
    autoResubscribe: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    // The link asks for itself, and for more.
    enableReadyCheck: false,
    retryStrategy: (times: number) =>
      Math.min(RECONNECT_MS_MAX, 20 * 2 ** Math.min(times, 10)) * (0.5 + random.fraction() / 2),
    connectionName: 'tidemark',
  };
  if (endpoint) return new Redis({ ...options, host: endpoint.host, port: endpoint.port });
  if (url.kind === 'sentinel') {
    return new Redis({
      ...options,
      sentinels: url.endpoints.map(({ host, port }) => ({ host, port })),
      name: url.masterName,
      enableTLSForSentinelMode: url.isTls,
      sentinelCommandTimeout: COMMAND_TIMEOUT_MS,
      sentinelRetryStrategy: () => RECONNECT_MS_MAX,
      failoverDetector: true,
      ...(url.isTls ? { sentinelTLS: {} } : {}),
      ...(url.sentinelPassword === undefined ? {} : { sentinelPassword: url.sentinelPassword }),
    });
  }
  const [only] = url.endpoints;
  return new Redis({ ...options, ...only });
}
