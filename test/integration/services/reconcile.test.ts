import { expect, test } from 'vitest';
import { openServiceBench } from '../../support/service-bench.ts';

test('[CN1][CN3] a wrong row at the revs of truth is found, left alone without repair, and mended with it', async () => {
  const bench = openServiceBench();
  await bench.accept({ type: 'conversation.created', conv: 'c', members: ['ann', 'bob'] });
  await bench.say('c', 'bob', ['m1', 'm2']);
  const { rows, epoch, syncVersion } = await bench.services.sync.view('ann');
  const [row] = rows;
  if (!row) throw new Error('no row');
  await bench.state.apply([
    { user: 'ann', op: 'merged', parts: [], rows: [{ ...row, unread: 41 }], repairAt: { epoch, syncVersion } },
  ]);
  expect(await bench.unread('ann', 'c')).toBe(41);
  const look = { users: ['ann', 'bob'] };
  expect(await bench.services.reconcile.run(look)).toEqual({ checked: 2, wrong: 1, repaired: 0 });
  expect(await bench.unread('ann', 'c')).toBe(41);
  bench.changes.length = 0;
  expect(await bench.services.reconcile.run({ repair: true })).toEqual({ checked: 2, wrong: 1, repaired: 1 });
  expect(await bench.unread('ann', 'c')).toBe(2);
  expect(bench.changes[0]).toMatchObject({ user: 'ann', epoch, total: 2 });
  expect(await bench.services.reconcile.run(look)).toEqual({ checked: 2, wrong: 0, repaired: 0 });
});

test('[CN1] a row that lags is on its way and not called wrong; with repair it is brought up to date', async () => {
  const bench = openServiceBench();
  await bench.accept({ type: 'conversation.created', conv: 'c', members: ['ann', 'bob'] });
  await bench.services.sync.view('ann');
  bench.state.losing = true;
  await bench.say('c', 'bob', ['m1']);
  bench.state.losing = false;
  expect(await bench.services.reconcile.run({ users: ['ann'] })).toMatchObject({ wrong: 0 });
  await bench.services.reconcile.run({ users: ['ann'], repair: true });
  expect(await bench.unread('ann', 'c')).toBe(1);
});

test('[CN1] explain counts the message rows and says what it left out and why', async () => {
  const bench = openServiceBench();
  await bench.accept({ type: 'conversation.created', conv: 'c', members: ['ann', 'bob'] });
  await bench.say('c', 'bob', ['m1', 'm2', 'm3']);
  await bench.say('c', 'ann', ['own']);
  await bench.say('c', 'bob', ['notice'], { countable: false });
  await bench.accept({ type: 'message.recalled', conv: 'c', message_id: 'm3' });
  await bench.services.commands.ack('ann', [{ conv: 'c', seq: 1 }]);
  expect(await bench.services.explain.explain('ann', 'c')).toEqual({
    conv: 'c',
    user: 'ann',
    head: 5,
    floor: 1,
    floor_from: 'read',
    unread: 1,
    mentions: 0,
    counted: [2],
    left_out: { own: 1, not_countable: 1, recalled: 1, capped: 0 },
  });
  await expect(bench.services.explain.explain('cid', 'c')).rejects.toMatchObject({ code: 'unknown_conversation' });
});
