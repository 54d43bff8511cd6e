import { expect, test } from 'vitest';
import { DIVERGENCE_COOL_DOWN_MS, openServiceBench } from '../../support/service-bench.ts';

const founding = { type: 'conversation.created', conv: 'c', members: ['ann', 'bob'] };

test('[SY5][SY1] ten views that arrive together at a cold user share one build and one epoch', async () => {
  const bench = openServiceBench();
  await bench.accept(founding);
  await bench.say('c', 'bob', ['m1', 'm2', 'm3']);
  const views = await Promise.all(Array.from({ length: 10 }, () => bench.services.sync.view('ann')));
  expect(new Set(views.map(({ epoch }) => epoch)).size).toBe(1);
  expect(views.map(({ total }) => total)).toEqual(Array.from({ length: 10 }, () => 3));
  expect(bench.changes.filter(({ user, rows }) => user === 'ann' && rows.length === 0)).toHaveLength(1);
});

test('[SY10] a state that is lost is built anew under another epoch, and open sockets are told', async () => {
  const bench = openServiceBench();
  await bench.accept(founding);
  await bench.say('c', 'bob', ['m1', 'm2']);
  const before = await bench.services.sync.view('ann');
  await bench.state.drop('ann');
  await bench.say('c', 'bob', ['m3']);
  const after = await bench.services.sync.view('ann');
  expect(after.total).toBe(3);
  expect(after.epoch).not.toBe(before.epoch);
  expect(bench.changes.at(-1)).toMatchObject({ user: 'ann', epoch: after.epoch, total: 3, rows: [] });
});

test('[SY7] the first divergence of a user is counted, the second in a row makes a build from truth', async () => {
  const bench = openServiceBench();
  await bench.accept(founding);
  await bench.say('c', 'bob', ['m1']);
  const { epoch } = await bench.services.sync.view('ann');
  await bench.services.sync.diverged('ann');
  expect((await bench.services.sync.view('ann')).epoch).toBe(epoch);
  await bench.services.sync.diverged('ann');
  const rebuilt = await bench.services.sync.view('ann');
  expect(rebuilt.epoch).not.toBe(epoch);
  expect(rebuilt.total).toBe(1);
});

test('[SY7] a device that goes on to differ after a build from truth makes no other one until the cool-down is over', async () => {
  const bench = openServiceBench();
  await bench.accept(founding);
  const epochs: string[] = [];
  const differ = async (): Promise<number> => {
    await bench.services.sync.diverged('ann');
    epochs.push((await bench.services.sync.view('ann')).epoch);
    return new Set(epochs).size;
  };
  expect([await differ(), await differ(), await differ(), await differ(), await differ()]).toEqual([1, 2, 2, 2, 2]);
  bench.aheadMs += DIVERGENCE_COOL_DOWN_MS;
  expect([await differ(), await differ(), await differ()]).toEqual([2, 3, 3]);
});

test('[CN8] a large conversation that changed while nobody asked is right when somebody does', async () => {
  const bench = openServiceBench({ groupThreshold: 2 });
  await bench.accept({ type: 'conversation.created', conv: 'big', members: ['ann', 'bob', 'cid'] });
  expect((await bench.services.sync.view('ann')).total).toBe(0);
  await bench.say('big', 'bob', ['m1', 'm2']);
  await bench.accept({ type: 'message.recalled', conv: 'big', message_id: 'm1' });
  expect((await bench.services.sync.view('ann')).total).toBe(1);
  await bench.accept({ type: 'conversation.purged', conv: 'big', up_to_seq: 2 });
  expect((await bench.services.sync.view('ann')).total).toBe(0);
  await bench.accept({ type: 'conversation.dissolved', conv: 'big' });
  const view = await bench.services.sync.view('ann', 0);
  expect(view.rows.map(({ conv, member }) => ({ conv, member }))).toEqual([{ conv: 'big', member: false }]);
});
