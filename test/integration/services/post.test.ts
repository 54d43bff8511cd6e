import { expect, test } from 'vitest';
import { noMetrics } from '../../../src/metrics.ts';
import { Post } from '../../../src/services/post.ts';
import { systemClock } from '../../../src/system.ts';
import { openServiceBench } from '../../support/service-bench.ts';

const DAY_MS = 24 * 3_600_000;

test('[DT7] the conversation with the newest message comes first, also when the clock was set back before a restart', async () => {
  const bench = openServiceBench();
  for (const conv of ['a', 'b']) await bench.accept({ type: 'conversation.created', conv, members: ['ann', 'bob'] });
  await bench.say('a', 'bob', ['a1']);
  await bench.say('b', 'bob', ['b1']);
  const restarted = new Post({
    truth: bench.truth,
    fanOut: bench.services.fanOut,
    clock: { ...systemClock, nowMs: () => systemClock.nowMs() - DAY_MS },
    metrics: noMetrics,
    keepsOutbox: false,
    onError(error) {
      throw error;
    },
  });
  const newestFirst = async (): Promise<string[]> => {
    await restarted.settled();
    const { rows } = await bench.services.reads.view('ann');
    return rows.toSorted((one, other) => other.activity - one.activity).map(({ conv }) => conv);
  };
  const says = (conv: string, message_id: string) => ({ type: 'message.created', conv, message_id, sender: 'bob' });
  await restarted.post([says('b', 'b2')]);
  expect(await newestFirst()).toEqual(['b', 'a']);
  await restarted.post([says('a', 'a2')]);
  expect(await newestFirst()).toEqual(['a', 'b']);
});
