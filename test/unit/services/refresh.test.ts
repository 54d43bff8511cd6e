import { expect, test } from 'vitest';
import { Unavailable } from '../../../src/errors.ts';
import type { Change, StateAnswer, StateCall, StateStore, Truth, Wakeup } from '../../../src/ports.ts';
import { Refresh } from '../../../src/services/refresh.ts';
import { systemClock } from '../../../src/system.ts';
import { createMemoryWakeup } from '../../../src/state/memory-wakeup.ts';

const HEAD = { epoch: 'e', syncVersion: 2, total: 1, badge: 1, mentions: 0, digest: '000000000000' };

function applied(user: string): StateAnswer {
  const change: Change = { ...HEAD, user, baseVersion: 1, op: 'message', rows: [] };
  return { kind: 'applied', head: change, change, derive: [] };
}

test('[AK5] whoever can be reached is told, before it is said that others could not', async () => {
  const answers: Record<string, StateAnswer> = {
    ann: applied('ann'),
    bob: { kind: 'away', retryMs: 300 },
    cem: applied('cem'),
  };
  const state = { apply: async (calls: readonly StateCall[]) => calls.map(({ user }) => answers[user]!) };
  const wakeup: Wakeup = createMemoryWakeup();
  const told: string[] = [];
  wakeup.subscribe({
    changes: (changes) => void told.push(...changes.map(({ user }) => user)),
    large: () => {},
    disconnect: () => {},
  });
  const refresh = new Refresh({
    truth: {} as Truth,
    state: state as StateStore,
    wakeup,
    clock: systemClock,
    groupThreshold: 500,
  });
  const offered = refresh.offer(Object.keys(answers).map((user) => ({ user, op: 'message', rows: [], parts: [] })));
  await expect(offered).rejects.toThrow(Unavailable);
  await expect(offered).rejects.toMatchObject({ retryMs: 300 });
  expect(told).toEqual(['ann', 'cem']);
});
