import { describe, expect, test } from 'vitest';
import { openServiceBench, type ServiceBench } from '../../support/service-bench.ts';

/** What a node committed and did not fan out: the state has not heard of it, and nobody asks. */
async function unheard(bench: ServiceBench, commit: () => Promise<unknown>): Promise<void> {
  bench.state.losing = true;
  await commit();
  bench.state.losing = false;
}

async function heldUnread(bench: ServiceBench, user: string, conv: string): Promise<number | undefined> {
  const view = await bench.state.read(user);
  return view?.rows.find((row) => row.conv === conv)?.unread;
}

describe('fanned out again by the relay', () => {
  test('[OR1][CN9] a message reaches every member with live state, once, whoever has begun with it', async () => {
    const bench = openServiceBench();
    await bench.accept({ type: 'conversation.created', conv: 'c', members: ['ann', 'bob'] });
    for (const user of ['ann', 'bob']) await bench.services.sync.view(user);
    await unheard(bench, () => bench.say('c', 'cem', ['m1', 'm2'], { mentions: ['ann'] }));
    expect(await heldUnread(bench, 'ann', 'c')).toBe(0);

    bench.changes.length = 0;
    const owed = [{ conv: 'c', user: null }];
    await bench.services.fanOut.again(owed);
    const told = new Map(bench.changes.map(({ user, total, mentions }) => [user, [total, mentions]]));
    expect(told).toEqual(
      new Map([
        ['ann', [2, 2]],
        ['bob', [2, 0]],
      ]),
    );
    expect(bench.changes).toHaveLength(2);
    await bench.services.fanOut.again([...owed, ...owed]);
    expect(bench.changes).toHaveLength(2);
  });

  test('[AK4] the rows of single users: of acks, joins and leaves', async () => {
    const bench = openServiceBench();
    await bench.accept({ type: 'conversation.created', conv: 'c', members: ['ann', 'bob'] });
    await bench.say('c', 'cem', ['m1']);
    for (const user of ['ann', 'bob', 'dan']) await bench.services.sync.view(user);
    await unheard(bench, () => bench.accept({ type: 'member.joined', conv: 'c', users: ['dan'] }));
    await unheard(bench, () => bench.accept({ type: 'member.left', conv: 'c', users: ['bob'] }));
    await bench.services.fanOut.again([
      { conv: 'c', user: 'dan' },
      { conv: 'c', user: 'bob' },
      { conv: 'gone', user: 'ann' },
      { conv: 'gone', user: null },
    ]);
    const dan = await bench.state.read('dan');
    expect(dan?.rows).toMatchObject([{ conv: 'c', member: true }]);
    expect((await bench.state.read('bob'))?.rows).toMatchObject([{ conv: 'c', member: false }]);
  });

  test('[CN8] a large conversation touches nobody but those who do not know that it is large', async () => {
    const bench = openServiceBench({ groupThreshold: 2 });
    await bench.accept({ type: 'conversation.created', conv: 'c', members: ['ann', 'bob'] });
    await bench.services.sync.view('ann');
    await unheard(bench, () => bench.accept({ type: 'member.joined', conv: 'c', users: ['cem', 'dan'] }));
    await unheard(bench, () => bench.say('c', 'dan', ['m1']));
    expect((await bench.state.read('ann'))?.large).toEqual([]);

    await bench.services.fanOut.again([{ conv: 'c', user: null }]);
    expect((await bench.state.read('ann'))?.large).toEqual(['c']);
    expect(await bench.unread('ann', 'c')).toBe(1);

    await unheard(bench, () => bench.say('c', 'dan', ['m2']));
    bench.changes.length = 0;
    await bench.services.fanOut.again([{ conv: 'c', user: null }]);
    expect(bench.changes).toEqual([]);
    expect((await bench.state.read('ann'))?.largeBehind).toEqual(['c']);
    expect(await bench.unread('ann', 'c')).toBe(2);
    await expect.poll(() => bench.notices.length).toBeGreaterThan(0);
  });
});
