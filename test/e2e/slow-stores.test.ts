/**
 * With seconds of latency on either store every call over HTTP and WebSocket is answered, or told when to come back, within 3 s; no
 * ack is lost, and when the latency is gone everything is right within seconds.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { freshDatabase } from '../support/mysql-database.ts';
import { CallWave, MESSAGES, withKey } from '../support/call-wave.ts';
import { countedIn, type Product, shownOf, startProduct, until } from '../support/product.ts';
import { startRedis } from '../support/redis.ts';
import { type Call, type Outcome, overHttp } from '../support/told-outcome.ts';
import { sharedMariadb } from '../support/shared-mariadb.ts';
import { openTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

/** 3 s are demanded; the rest is for a machine that has other things to do. */
const ANSWERED_WITHIN_MS = 4500;
const RIGHT_WITHIN_MS = 25_000;
/** New connections of the product in one phase: its pools once over and some retries, and no storm. */
const CONNECTIONS_MAX = 120;

interface Latency {
  readonly slow: string;
  /** Each way, so a round trip takes twice as long. */
  readonly redisMs: number;
  readonly mariadbMs: number;
}
const LATENCIES: readonly Latency[] = [
  { slow: 'Redis, 2 s a round trip', redisMs: 1000, mariadbMs: 0 },
  { slow: 'MariaDB, 2 s a round trip', redisMs: 0, mariadbMs: 1000 },
  { slow: 'both, 2 s each way', redisMs: 2000, mariadbMs: 2000 },
];

const mariadb = await sharedMariadb();

interface Scene {
  readonly product: Product;
  readonly redis: TcpProxy;
  readonly mariadb: TcpProxy;
}

async function openScene(): Promise<Scene> {
  const [database, redis] = await Promise.all([freshDatabase(mariadb), startRedis()]);
  const proxies = {
    redis: await openTcpProxy(redis.port),
    mariadb: await openTcpProxy(Number(new URL(database.url).port)),
  };
  const mysqlUrl = new URL(database.url);
  mysqlUrl.port = String(proxies.mariadb.port);
  const product = await startProduct({
    TIDEMARK_MYSQL_URL: mysqlUrl.href,
    TIDEMARK_REDIS_URL: `redis://127.0.0.1:${proxies.redis.port}`,
    TIDEMARK_HEARTBEAT_MS: '5000',
    TIDEMARK_LOG_LEVEL: 'fatal',
  });
  onTestFinished(async () => {
    await product.kill();
    await Promise.all([proxies.redis.close(), proxies.mariadb.close()]);
    await redis.stop();
    await database.drop();
  });
  return { product, ...proxies };
}

interface Measured extends Outcome {
  readonly name: string;
  readonly tookMs: number;
}

/** All at once. */
async function measure(calls: readonly Call[]): Promise<Measured[]> {
  return Promise.all(
    calls.map(async ({ name, run }) => {
      const startMs = performance.now();
      const outcome = await Promise.race([run(), hung()]);
      return { name, tookMs: performance.now() - startMs, ...outcome };
    }),
  );
}

async function hung(): Promise<Outcome> {
  await sleep(ANSWERED_WITHIN_MS, null, { ref: false });
  return { isRefused: false, fault: `no answer within ${ANSWERED_WITHIN_MS} ms` };
}

function table(measured: readonly Measured[]): string {
  const lines = measured.toSorted((a, b) => b.tookMs - a.tookMs);
  return lines
    .map(({ name, tookMs, isRefused }) => `${name} ${Math.round(tookMs)}${isRefused ? ' refused' : ''}`)
    .join(' · ');
}

test.each(LATENCIES)(
  '[DT8][AK4][OR2] $slow: every call is answered or told when to come back, and afterwards everything is right',
  { timeout: 120_000 },
  async ({ slow, redisMs, mariadbMs }) => {
    const { product, redis, mariadb } = await openScene();
    const waves = [new CallWave(product, 'first'), new CallWave(product, 'second')];
    for (const wave of waves) await wave.prepare();
    const clients = waves
      .flatMap(({ users }) => [...users].filter((user) => /POST|event/.test(user)))
      .map((user) => ({
        user,
        client: product.client(user),
      }));
    for (const { client } of clients) await until(client, () => client.total() === MESSAGES);

    redis.delayMs = redisMs;
    mariadb.delayMs = mariadbMs;
    const connectionsBefore = redis.accepted + mariadb.accepted;
    const measured: Measured[] = [];
    for (const wave of waves) measured.push(...(await measure(wave.calls())));
    // Read on devices meanwhile, as far as it goes.
    for (const { user, client } of clients) client.markRead(`c-${user}`, { upTo: 1 });
    await sleep(1000);
    const opened = redis.accepted + mariadb.accepted - connectionsBefore;
    process.stdout.write(`${slow}: ${opened} new connections; ${table(measured)}\n`);
    expect(measured.flatMap(({ name, fault }) => (fault === null ? [] : [`${name}: ${fault}`]))).toEqual([]);
    expect(opened).toBeLessThan(CONNECTIONS_MAX);

    redis.delayMs = 0;
    mariadb.delayMs = 0;
    const endMs = performance.now() + RIGHT_WITHIN_MS;
    const again = async (run: () => Promise<Outcome>): Promise<void> => {
      for (;;) {
        const { isRefused, fault } = await run();
        if (fault !== null || performance.now() > endMs) throw new Error(fault ?? 'still refused');
        if (!isRefused) return;
        await sleep(250);
      }
    };
    for (const wave of waves) {
      // What was refused may have been done: sent again it is done once.
      await Promise.all(wave.owed.map(({ run }) => again(run)));
      for (const [user, seq] of wave.acked) {
        const isRight = ({ rows }: Record<string, unknown>) => (rows as { read_seq: number }[])[0]?.read_seq === seq;
        const read = { method: 'GET', path: `/v1/users/${user}/unread`, headers: withKey, isRight };
        // What was under way when the latency ended still arrives late, and all behind it.
        await again(() => overHttp(product.url, read));
      }
    }
    const ready = { method: 'GET', path: '/readyz', headers: {}, isRight: () => true };
    await again(() => overHttp(product.url, ready));
    for (const { user, client } of clients) {
      await until(client, () => client.pending().length === 0);
      const counted = countedIn(await product.unread(user));
      await until(client, () => JSON.stringify(shownOf(client)) === JSON.stringify(counted));
    }
    const reconciled = { method: 'POST', path: '/v1/reconcile', body: { repair: false }, headers: withKey };
    await again(() => overHttp(product.url, { ...reconciled, isRight: ({ wrong }) => wrong === 0 }));
    for (const wave of waves) wave.close();
  },
);
