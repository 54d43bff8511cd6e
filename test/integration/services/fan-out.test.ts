import { expect, test } from 'vitest';
import { openServiceBench } from '../../support/service-bench.ts';

const members = (count: number): string[] => Array.from({ length: count }, (_, i) => `u${i}`);

test('[CN8] a message to a large conversation makes no state call, only a notice', async () => {
  const bench = openServiceBench({ groupThreshold: 3 });
  await bench.accept({ type: 'conversation.created', conv: 'big', members: members(4) });
  await bench.services.sync.view('u1');
  bench.state.calls = 0;
  await bench.say('big', 'u0', ['m1', 'm2', 'm3']);
  expect(bench.state.calls).toBe(0);
  expect(bench.notices.at(-1)).toMatchObject({ conv: 'big', op: 'message' });
  await bench.services.fanOut.refreshLarge('big', ['u1', 'u2'], 'message');
  expect(bench.changes.at(-1)).toMatchObject({ user: 'u1', total: 3, op: 'message' });
});

test('[CN8][DT1] crossing the threshold, up or down, re-rates the rows of everybody with live state', async () => {
  const bench = openServiceBench({ groupThreshold: 3 });
  await bench.accept({ type: 'conversation.created', conv: 'c', members: members(3) });
  await bench.say(
    'c',
    'u0',
    Array.from({ length: 400 }, (_, i) => `a${i}`),
  );
  await bench.say(
    'c',
    'u0',
    Array.from({ length: 450 }, (_, i) => `b${i}`),
  );
  await bench.say(
    'c',
    'u0',
    Array.from({ length: 350 }, (_, i) => `c${i}`),
  );
  const row = async () => (await bench.services.reads.rows('u1', ['c'])).rows[0];
  expect(await row()).toMatchObject({ unread: 1200 });
  await bench.accept({ type: 'member.joined', conv: 'c', users: ['u9'] });
  expect(await row()).toMatchObject({ unread: 999, capped: true });
  expect(bench.changes.at(-1)).toMatchObject({ user: expect.any(String), op: 'join' });
  await bench.accept({ type: 'member.left', conv: 'c', users: ['u9'] });
  expect(await row()).toMatchObject({ unread: 1200 });
});

test('[CN9] a fan-out that was lost is made good by the next message of the conversation', async () => {
  const bench = openServiceBench();
  await bench.accept({ type: 'conversation.created', conv: 'c', members: ['ann', 'bob'] });
  await bench.services.sync.view('ann');
  bench.state.losing = true;
  await bench.say('c', 'bob', ['m1', 'm2']);
  bench.state.losing = false;
  expect(await bench.unread('ann', 'c')).toBe(0);
  await bench.say('c', 'bob', ['m3']);
  expect(await bench.unread('ann', 'c')).toBe(3);
});

test('[SY9] a notice that counts for nobody makes no version', async () => {
  const bench = openServiceBench();
  await bench.accept({ type: 'conversation.created', conv: 'c', members: ['ann', 'bob'] });
  const before = await bench.services.sync.view('ann');
  await bench.say('c', 'bob', ['n1'], { countable: false });
  await bench.say('c', 'ann', ['own']);
  expect((await bench.services.sync.view('ann')).syncVersion).toBe(before.syncVersion);
});

test('[CN1] one event that cannot be stored fails alone; those beside it are accepted', async () => {
  const bench = openServiceBench({
    truth: (inner) =>
      new Proxy(inner, {
        get(target, name) {
          if (name !== 'transact') {
            const value: unknown = Reflect.get(target, name);
            return typeof value === 'function' ? value.bind(target) : value;
          }
          return (work: Parameters<typeof inner.transact>[0]) =>
            inner.transact(async (tx) => {
              const result = await work({
                ...tx,
                load: (request) => tx.load(request),
                rows: (pairs) => tx.rows(pairs),
                async store(writes) {
                  if (writes.newMessages?.some(({ messageId }) => messageId === 'poison'))
                    throw new Error('disk says no');
                  return tx.store(writes);
                },
              });
              return result;
            });
        },
      }),
  });
  await bench.accept({ type: 'conversation.created', conv: 'c', members: ['ann', 'bob'] });
  const message = (message_id: string) => ({ type: 'message.created', conv: 'c', sender: 'bob', message_id });
  const results = await bench.services.post.post(['m1', 'm2', 'poison', 'm3', 'm4'].map(message));
  expect(results.map(({ ok }) => ok)).toEqual([true, true, false, true, true]);
  expect(results[2]).toMatchObject({ error: { code: 'internal' } });
  expect(bench.errors).toHaveLength(1);
  await bench.services.post.settled();
  expect(await bench.unread('ann', 'c')).toBe(4);
});
