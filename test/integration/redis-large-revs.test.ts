import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { largeKey } from '../../src/state/redis/partitions.ts';
import { MemoryFences } from '../support/memory-fences.ts';
import { openRedisNode, type RedisNode } from '../support/redis-node.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { openTcpProxy } from '../support/tcp-proxy.ts';
import { plainRow } from '../support/truth-model.ts';

/** More than the record can tell of one by one. */
const MANY = 5000;

let redis: RedisServer;
let fences: MemoryFences;
let one: RedisNode;
let other: RedisNode;

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(async () => redis.stop());

beforeEach(async () => {
  await redis.admin.flushall();
  fences = new MemoryFences();
  [one, other] = await Promise.all([openRedisNode(redis.url, fences), openRedisNode(redis.url, fences)]);
  onTestFinished(async () => {
    await Promise.all([one.close(), other.close()]);
  });
});

/** A member of these large conversations, whose rows all stand at rev 5. */
async function build(user: string, convs: readonly string[]): Promise<void> {
  await one.state.beginBuild(user, 'token', 0);
  const rows = convs.map((conv) => plainRow({ conv, large: true, convRev: 5 }));
  expect(await one.state.completeBuild(user, 'token', 'epoch', rows)).toMatchObject({ stored: true });
}

async function raise(node: RedisNode, convs: readonly string[], rev = 5): Promise<void> {
  await node.state.raiseLarge(new Map(convs.map((conv) => [conv, rev])));
}

async function behind(node: RedisNode, user: string): Promise<string[] | undefined> {
  return (await node.state.read(user, 1))?.largeBehind.toSorted();
}

describe('a record that', () => {
  test('[CN8] was lost: everything that it told is forgotten', async () => {
    await build('ann', ['a', 'b']);
    await raise(one, ['a', 'b']);
    expect(await behind(other, 'ann')).toEqual([]);
    await redis.admin.del(largeKey());
    expect(await behind(other, 'ann')).toEqual(['a', 'b']);
  });

  test('[CN8] was lost and begun anew is not taken for the one before, however alike they are', async () => {
    await build('ann', ['a', 'b']);
    await raise(one, ['a', 'b']);
    expect(await behind(other, 'ann')).toEqual([]);
    await redis.admin.del(largeKey());
    await raise(one, ['c', 'd']);
    expect(await behind(other, 'ann')).toEqual(['a', 'b']);
    await raise(other, ['a', 'b']);
    expect(await behind(one, 'ann')).toEqual([]);
  });

  test('[CN8] rose by more than it can tell one by one is told whole', async () => {
    const convs = Array.from({ length: MANY }, (_, i) => `large-${i}`);
    await build('ann', [...convs.slice(0, 3), 'more']);
    expect(await behind(other, 'ann')).toHaveLength(4);
    await raise(one, convs);
    expect(await behind(other, 'ann')).toEqual(['more']);
    await raise(one, convs, 6);
    expect(await behind(other, 'ann')).toHaveLength(4);
  });

  test('[SY10] belongs to a copy that is past is not believed', async () => {
    await build('ann', ['a']);
    await raise(one, ['a']);
    expect(await behind(other, 'ann')).toEqual([]);
    const fence = (await fences.read()).get(0)!;
    await fences.raise(0, fence, { ...fence, number: 5 });
    for (const node of [one, other]) {
      await expect.poll(async () => node.state.read('ann', 1), { interval: 20 }).toBeNull();
    }
    await build('ann', ['a']);
    expect(await behind(other, 'ann')).toEqual(['a']);
    // Nor by what goes on with it.
    await raise(one, ['z']);
    expect(await behind(other, 'ann')).toEqual(['a']);
    await raise(one, ['a']);
    expect(await behind(other, 'ann')).toEqual([]);
  });
});

test('[CN8] a read that comes while the record is being asked for does not take an answer from before', async () => {
  await build('ann', ['a']);
  await raise(one, ['a']);
  const line = await openTcpProxy(redis.port);
  const far = await openRedisNode(`redis://127.0.0.1:${line.port}`, fences);
  onTestFinished(async () => {
    await far.close();
    await line.close();
  });
  expect(await behind(far, 'ann')).toEqual([]);
  const calls = async (): Promise<number> => {
    const stats = await redis.admin.info('commandstats');
    return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
  };
  const before = await calls();
  line.delayMs = 300;
  const first = behind(far, 'ann');
  // Both calls of the first read have been answered, and the answers are on their way.
  await expect.poll(calls, { interval: 5 }).toBe(before + 2);
  await raise(one, ['a'], 6);
  expect(await behind(far, 'ann')).toEqual(['a']);
  expect(await first).toEqual([]);
});
