import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { Unavailable } from '../../src/errors.ts';
import type { StateView } from '../../src/ports.ts';
import { MemoryFences } from '../support/memory-fences.ts';
import { openRedisNode } from '../support/redis-node.ts';
import { startRedisSentinel } from '../support/redis-sentinel.ts';
import { startRedis } from '../support/redis.ts';
import { plainRow } from '../support/truth-model.ts';

const DEADLINE_MS = 60_000;

test('[SY10] a master that Sentinel replaces is followed to the next one, which is another copy; wake-ups follow too', async () => {
  const [master, replica] = await Promise.all([startRedis(), startRedis()]);
  onTestFinished(async () => {
    await Promise.all([master.stop(), replica.stop()]);
  });
  await replica.admin.replicaof('127.0.0.1', master.port);
  const replication = async () => replica.admin.info('replication');
  await expect.poll(replication).toMatch(/master_link_status:up/);
  const sentinel = await startRedisSentinel(master);
  onTestFinished(() => sentinel.stop());
  const fences = new MemoryFences();
  const [one, other] = await Promise.all([openRedisNode(sentinel.url, fences), openRedisNode(sentinel.url, fences)]);
  onTestFinished(async () => {
    await Promise.all([one.close(), other.close()]);
  });
  const build = async (epoch: string): Promise<void> => {
    await one.state.beginBuild('ann', 'token', 0);
    await one.state.completeBuild('ann', 'token', epoch, [plainRow({ conv: 'c', unread: 1 })]);
  };
  await build('epoch-1');
  expect(await other.state.read('ann')).toMatchObject({ epoch: 'epoch-1' });
  // A Sentinel looks for replicas every ten seconds; it cannot put one in the place of the master that it does not know.
  const known = async () => String(await sentinel.admin.call('SENTINEL', 'REPLICAS', 'main'));
  await expect.poll(known).toContain(String(replica.port));

  await master.kill();
  const endMs = performance.now() + DEADLINE_MS;
  let view: StateView | null = null;
  for (;;) {
    try {
      view = await other.state.read('ann');
      break;
    } catch (error) {
      if (!(error instanceof Unavailable) || performance.now() > endMs) throw error;
      await sleep(50);
    }
  }
  expect(view).toBeNull();
  expect((await fences.read()).get(0)?.number).toBe(2);
  await expect.poll(async () => build('epoch-2').then(() => 'built', String)).toBe('built');
  expect(await other.state.read('ann')).toMatchObject({ epoch: 'epoch-2' });
  let heard = 0;
  other.wakeup.subscribe({ changes: () => {}, large: () => {}, disconnect: () => heard++ });
  const tell = async () => {
    await one.wakeup.publishDisconnect('ann', null);
    return heard;
  };
  await expect.poll(tell, { interval: 100 }).toBeGreaterThan(0);
});
