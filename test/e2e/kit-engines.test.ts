/**
 * The conformance kit on the engines of production. A few seeds of its random test here; KIT_SEEDS=1..200 for more.
 */
import { describe, expect, test } from 'vitest';
import { findKit } from '../../scripts/kit.ts';
import { runKit } from '../support/kit-run.ts';
import { freshDatabase } from '../support/mysql-database.ts';
import { realMysql } from '../support/real-mysql.ts';
import { startRedisCluster } from '../support/redis-cluster.ts';
import { startRedis } from '../support/redis.ts';
import { sharedMariadb } from '../support/shared-mariadb.ts';

const SEEDS = process.env['KIT_SEEDS'] ?? '1..6';
const KIT_TIMEOUT_MS = 30 * 60_000;
/** A bound on a hang: what is awaited in vain is a fault, however long. */
const ANSWER_MS_MAX = '30000';
const kit = findKit();

interface Engine {
  readonly name: string;
  /** The URL of a server, or why there is none. */
  truth(): Promise<{ url: string } | { reason: string }>;
  state(): Promise<{ url: string; stop(): Promise<void> }>;
}

const mariadb = async () => ({ url: await sharedMariadb() });

const ENGINES: readonly Engine[] = [
  { name: 'MariaDB and Redis', truth: mariadb, state: () => startRedis() },
  { name: 'MariaDB and a Redis Cluster', truth: mariadb, state: () => startRedisCluster() },
  { name: 'MySQL and Redis', truth: () => realMysql(), state: () => startRedis() },
];

describe.each(ENGINES)('$name', (engine) => {
  test(
    '[OR1][OR2][AK1][SY1][SY2] every scenario and seeds of the random test pass',
    { timeout: KIT_TIMEOUT_MS },
    async ({ skip }) => {
      if ('reason' in kit) return skip(kit.reason);
      const server = await engine.truth();
      if ('reason' in server) return skip(server.reason);
      const database = await freshDatabase(server.url);
      const store = await engine.state();
      try {
        const settings = { TIDEMARK_MYSQL_URL: database.url, TIDEMARK_REDIS_URL: store.url };
        const scenarios = await runKit(kit.dir, 'run.mjs', { settings }, ['--timeout', ANSWER_MS_MAX]);
        expect(scenarios, scenarios.failures).toMatchObject({ code: 0, failed: 0 });
        expect(scenarios.passed).toBeGreaterThan(100);
        const seeds = await runKit(kit.dir, 'fuzz.mjs', { settings }, [
          '--seeds',
          SEEDS,
          '--ops',
          '150',
          '--timeout',
          ANSWER_MS_MAX,
        ]);
        expect(seeds, seeds.failures).toMatchObject({ code: 0, failed: 0 });
        expect(seeds.passed).toBeGreaterThan(0);
      } finally {
        await store.stop();
        await database.drop();
      }
    },
  );
});
