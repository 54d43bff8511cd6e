import { expect, test } from 'vitest';
import { Deadline } from '../../../src/deadline.ts';
import { Unavailable } from '../../../src/errors.ts';
import { systemClock } from '../../../src/system.ts';
import { createHeldTruth, type HeldTruth } from '../../support/held-truth.ts';
import { openServiceBench, type ServiceBench } from '../../support/service-bench.ts';

async function withMessages(count: number): Promise<ServiceBench> {
  const bench = openServiceBench();
  await bench.accept({ type: 'conversation.created', conv: 'c', members: ['ann', 'bob'] });
  await bench.say(
    'c',
    'bob',
    Array.from({ length: count }, (_, i) => `m${i + 1}`),
  );
  await bench.services.sync.view('ann');
  bench.changes.length = 0;
  return bench;
}

test('[AK4][AK1] acks that arrive together run as one and each item gets its own answer', async () => {
  const bench = await withMessages(10);
  const { commands } = bench.services;
  const answers = await Promise.all([3, 7, 5, 99, 7].map((seq) => commands.ack('ann', [{ conv: 'c', seq }])));
  expect(answers.map(({ items }) => items[0]?.status)).toEqual(['applied', 'applied', 'stale', 'clamped', 'stale']);
  expect(answers.map(({ items }) => items[0]?.unread)).toEqual([0, 0, 0, 0, 0]);
  expect(bench.changes).toHaveLength(1);
  expect(bench.changes[0]).toMatchObject({ user: 'ann', op: 'read', total: 0 });
});

test('[AK4] of acks that run together one that nobody waits for when they begin is refused and not done', async () => {
  const held: { truth?: HeldTruth } = {};
  const bench = openServiceBench({ truth: (inner) => (held.truth = createHeldTruth(inner)).truth });
  const [early, late] = ['early', 'late'];
  for (const conv of [early, late]) {
    await bench.accept({ type: 'conversation.created', conv, members: ['ann', 'bob'] });
    await bench.say(conv, 'carl', [`m-${conv}`], { members: ['carl'] });
  }
  for (const user of ['ann', 'bob']) await bench.services.sync.view(user);
  const { commands } = bench.services;
  const clock = { ...systemClock, steadyMs: () => systemClock.steadyMs() + bench.aheadMs };

  const first = held.truth!.holdCommit();
  const before = commands.ack('ann', []);
  await first.reached;
  const ofOther = commands.ack('bob', [{ conv: early, seq: 1 }]);
  const acks = [
    commands.ack('ann', [{ conv: late, seq: 1 }], new Deadline(clock)),
    commands.ack('ann', [{ conv: early, seq: 1 }], new Deadline(clock, clock.steadyMs() + 60_000)),
  ];
  const outcomes = Promise.allSettled(acks);
  const second = held.truth!.holdCommit();
  first.letGo();
  await Promise.all([before, second.reached]);
  bench.aheadMs += 30_000;
  second.letGo();
  const [refused, done] = await outcomes;
  expect(refused).toMatchObject({ status: 'rejected', reason: expect.any(Unavailable) });
  expect(done).toMatchObject({ status: 'fulfilled', value: { items: [{ conv: early, status: 'applied' }] } });
  expect((await ofOther).items[0]?.status).toBe('applied');
  expect([await bench.unread('ann', late), await bench.unread('ann', early)]).toEqual([1, 0]);
});

test('[AK4] other commands run after the acks before them and before those after', async () => {
  const bench = await withMessages(10);
  const { commands } = bench.services;
  const [first, mark, late] = await Promise.all([
    commands.ack('ann', [{ conv: 'c', seq: 10, read_epoch: 0 }]),
    commands.mark('ann', { conv: 'c', from_seq: 4 }),
    commands.ack('ann', [{ conv: 'c', seq: 10, read_epoch: 0 }]),
  ]);
  expect(first?.items[0]).toMatchObject({ status: 'applied', read_seq: 10 });
  expect(mark?.items[0]).toMatchObject({ status: 'applied', read_seq: 3, unread: 7 });
  // AK7: the ack belongs to the read_epoch before the mark.
  expect(late?.items[0]).toMatchObject({ status: 'stale', read_seq: 3, unread: 7 });
});

test('[AK3] an item for a conversation that is not the user’s is unknown, and only that one', async () => {
  const bench = await withMessages(2);
  const { items } = await bench.services.commands.ack('ann', [
    { conv: 'nowhere', seq: 1 },
    { conv: 'c', seq: 1 },
  ]);
  expect(items).toEqual([
    { conv: 'nowhere', status: 'unknown' },
    { conv: 'c', status: 'applied', read_seq: 1, unread: 1 },
  ]);
});

test('[AK9] an item may name the message', async () => {
  const bench = await withMessages(5);
  const { items } = await bench.services.commands.ack('ann', [{ conv: 'c', message_id: 'm4' }]);
  expect(items[0]).toMatchObject({ status: 'applied', read_seq: 4, unread: 1 });
});

test('[AK2] a stale ack of a user whose state lags behind truth derives the row anew and pushes it', async () => {
  const bench = await withMessages(3);
  bench.state.losing = true;
  await bench.say('c', 'bob', ['lost']);
  bench.state.losing = false;
  bench.changes.length = 0;
  const answer = await bench.services.commands.ack('ann', [{ conv: 'c', seq: 0 }]);
  expect(answer.items[0]).toMatchObject({ status: 'stale', unread: 4 });
  expect(answer.total).toBe(4);
  expect(bench.changes).toHaveLength(1);
});

test('[AK2] a stale ack of a user whose state is up to date changes nothing and pushes nothing', async () => {
  const bench = await withMessages(3);
  await bench.services.commands.ack('ann', [{ conv: 'c', seq: 2 }]);
  bench.changes.length = 0;
  await bench.services.commands.ack('ann', [{ conv: 'c', seq: 2 }]);
  expect(bench.changes).toEqual([]);
});

test('[AK8] read all at a version leaves what changed since, names it, and makes one version', async () => {
  const bench = await withMessages(3);
  await bench.accept({ type: 'conversation.created', conv: 'd', members: ['ann', 'bob'] });
  await bench.say('d', 'bob', ['d1', 'd2']);
  const { epoch, syncVersion } = await bench.services.sync.view('ann');
  await bench.say('d', 'bob', ['d3']);
  bench.changes.length = 0;
  const answer = await bench.services.commands.readAll('ann', { epoch, sync_version: syncVersion });
  expect(answer.items).toEqual([{ conv: 'd', status: 'stale' }]);
  expect(answer.total).toBe(3);
  expect(bench.changes.map(({ op }) => op)).toEqual(['read']);
  await expect(bench.services.commands.readAll('ann', { epoch: 'elsewhere', sync_version: 1 })).rejects.toMatchObject({
    code: 'stale_cursor',
    field: 'epoch',
  });
});

test('[AK8] a version that has not been given out yet is refused, and nothing moves', async () => {
  const bench = await withMessages(3);
  const { epoch, syncVersion } = await bench.services.sync.view('ann');
  for (const sync_version of [syncVersion + 1, Number.MAX_SAFE_INTEGER]) {
    for (const asked of [{ epoch, sync_version }, { sync_version }]) {
      await expect(bench.services.commands.readAll('ann', asked)).rejects.toMatchObject({
        code: 'stale_cursor',
        field: 'sync_version',
      });
    }
  }
  expect((await bench.services.sync.view('ann')).total).toBe(3);
});

test('[AK8] a version since which more rows have changed than one frame can name is refused, and nothing moves', async () => {
  const bench = openServiceBench();
  const convs = Array.from({ length: 1000 }, (_, i) => `conversation-${i}`);
  const said = (conv: string, message_id: string) => ({ type: 'message.created', conv, message_id, sender: 'bob' });
  for (let i = 0; i < convs.length; i += 500) {
    const founded = convs.slice(i, i + 500).map((conv) => ({ ...said(conv, 'm1'), members: ['ann', 'bob'] }));
    await bench.accept(...founded);
  }
  const { epoch, syncVersion } = await bench.services.sync.view('ann');
  const at = { epoch, sync_version: syncVersion };
  await bench.accept(...convs.slice(0, 200).map((conv) => said(conv, 'm2')));
  await bench.accept(...convs.slice(200, 500).map((conv) => said(conv, 'm2')));
  await expect(bench.services.commands.readAll('ann', at)).rejects.toMatchObject({
    code: 'stale_cursor',
    field: 'sync_version',
  });
  expect((await bench.services.sync.view('ann')).total).toBe(1500);
  const later = await bench.services.commands.readAll('ann', { epoch, sync_version: syncVersion + 1 });
  expect([later.items.length, later.total]).toEqual([300, 600]);
  expect(Buffer.byteLength(JSON.stringify(later.items))).toBeLessThan(65_536);
});

test('[LC3] a clear of everything puts the row away, a clear of a part keeps the rest, a lower one is stale', async () => {
  const bench = await withMessages(5);
  const { commands } = bench.services;
  expect((await commands.clear('ann', { conv: 'c', up_to_seq: 3 })).total).toBe(2);
  expect((await commands.clear('ann', { conv: 'c', up_to_seq: 2 })).items[0]?.status).toBe('stale');
  await commands.clear('ann', { conv: 'c', up_to_seq: 5 });
  expect(await bench.unread('ann', 'c')).toBeUndefined();
  await bench.say('c', 'bob', ['back']);
  expect(await bench.unread('ann', 'c')).toBe(1);
});

test('[AK4] an ack of a user without live state is answered from truth', async () => {
  const bench = await withMessages(4);
  await bench.state.drop('ann');
  const answer = await bench.services.commands.ack('ann', [{ conv: 'c', seq: 3 }]);
  expect(answer).toMatchObject({ total: 1, items: [{ conv: 'c', status: 'applied', read_seq: 3, unread: 1 }] });
});

test('[DT8][AK4] while the state store is away acks become durable one after the other, and are answered when it is back', async () => {
  const bench = await withMessages(5);
  const { commands } = bench.services;
  bench.state.away = true;
  const answers = [2, 4].map((seq) => commands.ack('ann', [{ conv: 'c', seq }]));
  await expect.poll(async () => (await bench.truth.rows([{ conv: 'c', user: 'ann' }]))[0]?.membership.readSeq).toBe(4);
  expect(bench.changes).toEqual([]);
  bench.state.away = false;
  const [first, second] = await Promise.all(answers);
  expect(first?.items[0]).toMatchObject({ status: 'applied', read_seq: 2 });
  expect(second?.items[0]).toMatchObject({ status: 'applied', read_seq: 4 });
  expect(second?.total).toBe(1);
  expect(bench.changes.at(-1)).toMatchObject({ user: 'ann', total: 1 });
});

test('[DT8] while the state store is away a pull is answered from truth, under an epoch used once', async () => {
  const bench = await withMessages(5);
  bench.state.away = true;
  const [one, two] = [await bench.services.sync.pull('ann'), await bench.services.sync.pull('ann')];
  expect([one.total, two.total]).toEqual([5, 5]);
  expect(one.epoch).not.toBe(two.epoch);
  expect(await bench.unread('ann', 'c')).toBe(5);
});
