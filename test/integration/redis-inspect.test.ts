import { expect, onTestFinished, test } from 'vitest';
import type { Change } from '../../src/ports.ts';
import { openRedisInstallation } from '../support/redis-installation.ts';
import { allNodesChannel } from '../../src/state/redis/partitions.ts';
import { startRedis } from '../support/redis.ts';
import { slowClock } from '../support/slow-clock.ts';
import { spoilRow } from '../support/spoiled-row.ts';

/** A node that is busy is not one that does not answer. */
const PATIENT = slowClock(10);

async function opened() {
  const redis = await startRedis();
  const installation = await openRedisInstallation(redis.url, PATIENT);
  onTestFinished(async () => {
    await installation.close();
    await redis.stop();
  });
  return { redis, installation };
}

const message = { type: 'message.created', conv: 'c', sender: 'bob', members: ['ann', 'bob'] };

test('whoever watches a user on one node hears what another one changes', async () => {
  const { installation } = await opened();
  const [here, there] = installation.nodes;
  const { syncVersion } = await there.services.sync.view('ann');
  const watched = await here.services.watch.open('ann');
  await there.services.post.post([{ ...message, message_id: 'm1' }]);
  const changes: Change[] = [];
  // What is heard first may be that the state was built.
  while (changes.length === 0) changes.push(...((await watched.next()) ?? []).filter(({ rows }) => rows.length > 0));
  expect(changes).toMatchObject([{ user: 'ann', baseVersion: syncVersion, total: 1, rows: [{ conv: 'c' }] }]);
  watched.close();
});

test('a node that does not answer is counted, and not waited for', async () => {
  const { redis, installation } = await opened();
  const mute = redis.admin.duplicate();
  onTestFinished(() => mute.disconnect());
  await mute.ssubscribe(allNodesChannel());
  const { devices, nodes } = await installation.nodes[0].services.inspect.inspect('ann', 1);
  expect([devices, nodes]).toEqual([[], { asked: 3, answered: 2 }]);
});

test('[CN1][CN3] a row overwritten in Redis is found, with the sums that no longer fit it, and mended on all nodes', async () => {
  const { redis, installation } = await opened();
  const [here, there] = installation.nodes;
  await here.services.post.post([
    { ...message, message_id: 'm1' },
    { ...message, message_id: 'm2' },
  ]);
  const { rows, epoch } = await here.services.sync.view('ann');
  await spoilRow(redis.admin, 'ann', rows[0]!, { unread: 41 });

  const looked = await there.services.inspect.inspect('ann', 200);
  expect(looked.rows).toMatchObject([
    { conv: 'c', verdict: 'wrong', differ: ['unread'], truth: { unread: 2 }, state: { unread: 41 } },
  ]);
  expect([looked.truth.total, looked.state?.total, looked.state?.of_rows.total]).toEqual([2, 2, 41]);
  expect(await there.services.reconcile.run({ users: ['ann'] })).toEqual({ checked: 1, wrong: 1, repaired: 0 });

  expect(await there.services.reconcile.run({ users: ['ann'], repair: true })).toEqual({
    checked: 1,
    wrong: 1,
    repaired: 1,
  });
  const mended = await here.services.sync.view('ann');
  expect(mended).toMatchObject({ total: 2, badge: 2, rows: [{ unread: 2 }] });
  expect(mended.epoch).not.toBe(epoch);
  // By both nodes: here over the store, where what was pushed before may still be on its way.
  const told = () => installation.pushed.filter((one) => one.user === 'ann' && one.epoch === mended.epoch);
  await expect.poll(() => told().length).toBe(2);
  expect(told()).toMatchObject([{ total: 2 }, { total: 2 }]);
  expect(await here.services.inspect.inspect('ann', 200)).toMatchObject({ verdicts: { same: 1, wrong: 0 } });

  // What only the sums show: a row whose difference cannot be seen is right, and its sums are not.
  await spoilRow(redis.admin, 'ann', mended.rows[0]!, { convRev: mended.rows[0]!.convRev + 5, unread: 9 });
  expect(await here.services.reconcile.run({ users: ['ann'], repair: true })).toMatchObject({ wrong: 1, repaired: 1 });
  await installation.expectTruth(['ann', 'bob']);
});
