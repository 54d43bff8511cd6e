import { expect, test } from 'vitest';
import type { Truth, TruthTransaction } from '../../../src/ports.ts';
import { openServiceBench } from '../../support/service-bench.ts';

/** Where truth is embedded a transaction holds up everything else: how many memberships each of them has asked for. */
function countedTransactions(): { readonly sizes: number[]; readonly truth: (inner: Truth) => Truth } {
  const sizes: number[] = [];
  const counted = (tx: TruthTransaction): TruthTransaction => {
    let size = 0;
    const place = sizes.push(0) - 1;
    return {
      load(request) {
        sizes[place] = size += request.memberships?.length ?? 0;
        return tx.load(request);
      },
      store: (writes) => tx.store(writes),
      rows: (pairs) => tx.rows(pairs),
    };
  };
  const truth = (inner: Truth): Truth =>
    new Proxy(inner, {
      get(target, name) {
        if (name === 'transact')
          return (work: Parameters<Truth['transact']>[0]) => target.transact((tx) => work(counted(tx)));
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  return { sizes, truth };
}

/** Counts how often the event loop comes round while `work` runs. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    if (isOver) return;
    turns++;
    setImmediate(count);
  };
  setImmediate(count);
  await work();
  isOver = true;
  return turns;
}

const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `u${i}`);

test('[AK4] a flood of long acks runs in transactions of a bounded size, and each item is answered', async () => {
  const { sizes, truth } = countedTransactions();
  const bench = openServiceBench({ truth });
  await bench.accept({ type: 'conversation.created', conv: 'c', members: ['ann', 'bob', 'cid'] });
  await bench.say('c', 'bob', ['m1', 'm2', 'm3']);
  sizes.length = 0;
  const items = [{ conv: 'c', seq: 2 }, ...Array.from({ length: 199 }, (_, i) => ({ conv: `none-${i}`, seq: 1 }))];
  const frames = ['ann', 'cid'].flatMap((user) =>
    Array.from({ length: 20 }, () => bench.services.commands.ack(user, items)),
  );
  const answers = await Promise.all(frames);
  expect(answers.map((answer) => answer.items.length)).toEqual(answers.map(() => 200));
  expect(answers.every((answer) => answer.items[0]?.read_seq === 2 && answer.total === 1)).toBe(true);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(500);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(40 * 200);
});

test('[AK4] short acks of many users and frames still share their transactions', async () => {
  const { sizes, truth } = countedTransactions();
  const bench = openServiceBench({ truth });
  await bench.accept({ type: 'conversation.created', conv: 'c', members: names(100) });
  await bench.say('c', 'bob', ['m1', 'm2', 'm3']);
  sizes.length = 0;
  await Promise.all(
    names(100).flatMap((user) => [1, 2, 3].map((seq) => bench.services.commands.ack(user, [{ conv: 'c', seq }]))),
  );
  expect(sizes).toEqual([300]);
});

test('[AK4] commands that one socket can have sent before it is held back are all carried out, none refused', async () => {
  const bench = openServiceBench();
  const asked = Array.from({ length: 6500 }, () =>
    bench.services.commands.readAll('ann', { epoch: 'none', sync_version: 1 }),
  );
  const codes = (await Promise.allSettled(asked)).map((one) => (one as { reason?: { code?: string } }).reason?.code);
  expect(new Set(codes)).toEqual(new Set(['stale_cursor']));
});

test('[CN9] events that name many users are cut into transactions of a bounded size, in their order', async () => {
  const { sizes, truth } = countedTransactions();
  const bench = openServiceBench({ truth });
  const users = names(1000);
  const batch = Array.from({ length: 8 }, (_, i) => [
    { type: 'conversation.created', conv: `c${i}`, members: users },
    { type: 'message.created', conv: `c${i}`, message_id: 'm1', sender: 'u0' },
    { type: 'member.left', conv: `c${i}`, users: users.slice(1) },
    { type: 'message.created', conv: `c${i}`, message_id: 'm2', sender: 'u1' },
  ]);
  await bench.accept(...batch.flat());
  expect(Math.max(...sizes)).toBeLessThanOrEqual(2001);
  expect(await bench.truth.membersOf('c7')).toEqual(['u0']);
  expect(await bench.unread('u0', 'c7')).toBe(1);
});

test('[CN1] reconcile lets everybody else in between two users', async () => {
  const bench = openServiceBench();
  await bench.accept({ type: 'conversation.created', conv: 'c', members: names(50) });
  expect(await turnsDuring(() => bench.services.reconcile.run({}))).toBeGreaterThanOrEqual(50);
});

test('[CN8] rows of thousands of members are derived and offered piece by piece', async () => {
  const bench = openServiceBench({ groupThreshold: 10 });
  const users = names(2000);
  await bench.accept({ type: 'conversation.created', conv: 'c', members: users });
  for (const user of users) await bench.services.sync.view(user);
  await bench.say('c', 'bob', ['m1']);
  bench.changes.length = 0;
  expect(await turnsDuring(() => bench.services.fanOut.refreshLarge('c', users, 'message'))).toBeGreaterThanOrEqual(10);
  expect(bench.changes).toHaveLength(2000);
});
