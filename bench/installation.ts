/** A gateway over a MariaDB and a Redis of its own, as it runs in production. */
import { createConnection } from 'mysql2/promise';
import { type MariadbServer, startMariadb } from '../loadtest/mariadb.ts';
import { Target } from '../loadtest/target.ts';
import type { ClientFrame } from '../protocol/index.ts';
import { openClients, type RawClient } from './raw-sockets.ts';
import { type RedisProcess, startRedis } from './redis-server.ts';

export interface Installation {
  readonly target: Target;
  readonly mariadb: MariadbServer;
  readonly redis: RedisProcess;
  /** A device of each user, which gets a snapshot. */
  connect(users: readonly string[]): Promise<RawClient[]>;
  stop(): Promise<void>;
}

const DATABASE = 'tidemark';
const CONNECTING = 20;
const HOUR_MS = 3_600_000;

/** `settings`: more of the environment of the gateway. */
export async function startInstallation(settings: Readonly<Record<string, string>> = {}): Promise<Installation> {
  const mariadb = await startMariadb();
  const admin = await createConnection(mariadb.url);
  await admin.query(`CREATE DATABASE ${DATABASE}`);
  await admin.end();
  const redis = await startRedis();
  const target = await Target.start({
    settings: {
      TIDEMARK_MYSQL_URL: new URL(DATABASE, mariadb.url).href,
      TIDEMARK_REDIS_URL: `redis://127.0.0.1:${redis.port}`,
      // Nobody answers pings here, and nothing but what is measured uses the stores.
      TIDEMARK_HEARTBEAT_MS: String(HOUR_MS),
      TIDEMARK_RECONCILE_INTERVAL_MS: '0',
      ...settings,
    },
  });
  const port = Number(new URL(target.urls[0] as string).port);
  return {
    target,
    mariadb,
    redis,
    connect: (users) =>
      openClients(port, users.length, CONNECTING, (i): ClientFrame => {
        const token = target.tokenOf(users[i] as string);
        return { t: 'hello', token, device: 'phone', cursor: null };
      }),
    async stop() {
      await target.stop();
      await Promise.all([redis.stop(), mariadb.stop()]);
    },
  };
}
