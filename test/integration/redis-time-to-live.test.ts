import { afterAll, beforeAll, expect, test } from 'vitest';
import { partitionOf, userKey } from '../../src/state/redis/partitions.ts';
import { applied, build, message, part } from '../contract/state-offers.ts';
import { MemoryFences } from '../support/memory-fences.ts';
import { openRedisNode, type RedisNode } from '../support/redis-node.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { plainRow } from '../support/truth-model.ts';

/** The state of who has been away for long is dropped by the store itself, whatever happens in their conversations. */
const DAY_S = 24 * 3600;
const TTL_S = 30 * DAY_S;
/** Not that of a test, however busy its machine. */
const HOUR_S = 3600;

let redis: RedisServer;
let node: RedisNode;
beforeAll(async () => {
  redis = await startRedis();
  node = await openRedisNode(redis.url, new MemoryFences());
});
afterAll(async () => {
  await node.close();
  await redis.stop();
});

const keyOf = (user: string): string => userKey(partitionOf(user), user);

/** A moment, in ms: the same as long as nobody renews it. */
async function expiryOf(user: string): Promise<number> {
  return Number(await redis.admin.call('PEXPIRETIME', keyOf(user)));
}

async function expectWholeLife(user: string): Promise<void> {
  const leftS = await redis.admin.ttl(keyOf(user));
  expect(leftS).toBeGreaterThan(TTL_S - HOUR_S);
  expect(leftS).toBeLessThanOrEqual(TTL_S);
}

/** A live state that the store would drop after so long; answers when that is. */
async function expiring(user: string, leftS: number): Promise<number> {
  await build(node.state, user, 'epoch', [plainRow({ conv: 'c' })]);
  expect(await redis.admin.expire(keyOf(user), leftS)).toBe(1);
  return expiryOf(user);
}

test('a state that was built lives for 30 days', async () => {
  await build(node.state, 'ann', 'epoch', [plainRow({ conv: 'c' })]);
  await expectWholeLife('ann');
});

test.each([
  ['of all rows', undefined],
  ['since a version', 1],
])('a read %s renews it once a day of it is gone, and is no write before', async (_, since) => {
  const early = await expiring('bob', TTL_S - DAY_S + HOUR_S);
  await node.state.read('bob', since);
  expect(await expiryOf('bob')).toBe(early);
  await expiring('bob', TTL_S - DAY_S - 1);
  await node.state.read('bob', since);
  await expectWholeLife('bob');
});

test('changes that only arrive do not renew it: who does not come back is forgotten', async () => {
  const expiry = await expiring('cem', HOUR_S);
  for (let rev = 1; rev <= 3; rev++) {
    const arrived = part({
      fromRev: rev,
      toRev: rev + 1,
      headSeq: rev,
      activity: rev + 1,
      messages: [message({ seq: rev })],
    });
    const { change } = await applied(node.state, 'cem', { parts: [arrived] });
    expect(change).toMatchObject({ total: rev });
  }
  const repaired = plainRow({ conv: 'c', convRev: 9, unread: 7 });
  expect((await applied(node.state, 'cem', { op: 'merged', rows: [repaired] })).change).toMatchObject({ total: 7 });
  expect(await expiryOf('cem')).toBe(expiry);
});
