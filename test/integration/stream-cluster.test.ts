import { afterAll, beforeAll, expect, test } from 'vitest';
import { createStreamConsumer } from '../../src/stream/stream-consumer.ts';
import { noMetrics } from '../../src/metrics.ts';
import { systemClock, systemRandom } from '../../src/system.ts';
import { type RedisCluster, startRedisCluster } from '../support/redis-cluster.ts';

let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await startRedisCluster();
});
afterAll(async () => {
  await cluster.stop();
});

const PARTITIONS = 8;

test('streams on a Cluster: those of all masters are read, and what is refused goes to the dead letters, wherever these lie', async () => {
  const applied: string[] = [];
  const errors: unknown[] = [];
  const consumer = createStreamConsumer({
    url: cluster.url,
    prefix: 'chat',
    partitions: PARTITIONS,
    post: {
      async post(values) {
        const ids = values.map((value) => (value as { event_id: string }).event_id);
        applied.push(...ids);
        return ids.map((id) =>
          id.startsWith('bad') ? { ok: false, error: { code: 'unknown_event', message: 'no' } } : { ok: true },
        );
      },
    },
    ready: () => Promise.resolve(),
    clock: systemClock,
    random: systemRandom,
    metrics: noMetrics,
    onError: (error) => void errors.push(error),
    refusedRetryMs: 5,
  });
  consumer.start();
  const streams = Array.from({ length: PARTITIONS }, (_, n) => `chat:{${n}}`);
  const servers = new Set<unknown>();
  for (const stream of streams) {
    const server = await cluster.serverOf(stream);
    servers.add(server);
    for (const id of ['good', 'bad']) {
      await server.admin.call('XADD', stream, '*', 'event', JSON.stringify({ event_id: `${id} ${stream}` }));
    }
  }
  expect(servers.size).toBeGreaterThan(1);
  const dead = await cluster.serverOf('chat:dead');
  await expect.poll(async () => Number(await dead.admin.call('XLEN', 'chat:dead'))).toBe(PARTITIONS);
  for (const stream of streams) {
    const { admin } = await cluster.serverOf(stream);
    await expect.poll(async () => Number(await admin.call('XLEN', stream))).toBe(0);
    expect(applied.filter((id) => id === `good ${stream}`)).toHaveLength(1);
    expect(applied.filter((id) => id === `bad ${stream}`)).toHaveLength(5);
  }
  await consumer.stop();
  expect(errors).toEqual([]);
});
