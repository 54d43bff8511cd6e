import { describe, expect, test } from 'vitest';
import { createMemoryState } from '../../src/state/memory.ts';
import { createHandClock } from '../support/hand-clock.ts';
import { plainRow } from '../support/truth-model.ts';
import { applied, build, NEVER_MS, part } from './state-offers.ts';
import { stateContract } from './state.ts';

const USERS_MAX = 8;
const TTL_MS = 1000;

stateContract('memory', async () => {
  const state = createMemoryState({ clock: createHandClock(), usersMax: USERS_MAX });
  let others = 0;
  return {
    state,
    other: state,
    // Others who ask take the place of one who does not.
    async evict() {
      for (let i = 0; i < USERS_MAX; i++) await build(state, `passer-by-${others++}`, 'epoch', []);
    },
    close: async () => state.close(),
  };
});

describe('memory state: bounds', () => {
  test('[SY10] above the limit the users who have not asked for longest are forgotten', async () => {
    const state = createMemoryState({ clock: createHandClock(), usersMax: 2 });
    await build(state, 'ann', 'epoch-1', [plainRow({ conv: 'c', unread: 1 })]);
    await build(state, 'bob', 'epoch-1', [plainRow({ conv: 'c', unread: 1 })]);
    // Only asking counts: what arrives does not keep a user.
    await state.read('ann');
    await applied(state, 'bob', { parts: [part()] });
    await build(state, 'cem', 'epoch-1', []);
    expect(await state.read('bob')).toBeNull();
    expect(await state.read('ann')).toMatchObject({ total: 1 });
    expect(await state.read('cem')).toMatchObject({ total: 0 });
  });

  test('[SY10] users who are connected are not forgotten, however many others ask', async () => {
    const connected = new Set(['ann', 'bob']);
    const isConnected = (user: string): boolean => connected.has(user);
    const state = createMemoryState({ clock: createHandClock(), usersMax: 3, isConnected });
    for (const user of connected) await build(state, user, 'epoch-1', [plainRow({ conv: 'c', unread: 1 })]);
    for (let i = 0; i < 200; i++) await build(state, `passer-by-${i}`, 'epoch-1', []);
    for (const user of connected) await applied(state, user, { parts: [part()] });
    expect(await state.read('passer-by-198')).toBeNull();
    expect(await state.read('passer-by-199')).not.toBeNull();
    connected.clear();
    for (let i = 0; i < 3; i++) await build(state, `other-${i}`, 'epoch-1', []);
    expect([await state.read('ann'), await state.read('bob')]).toEqual([null, null]);
  });

  test('[SY10] where more are connected than the limit allows, all of them are kept', async () => {
    const state = createMemoryState({ clock: createHandClock(), usersMax: 2, isConnected: () => true });
    const names = Array.from({ length: 200 }, (_, i) => `u${i}`);
    for (const user of names) await build(state, user, 'epoch-1', []);
    const kept = await Promise.all(names.map((user) => state.read(user)));
    expect(kept).not.toContain(null);
  });

  test('[SY10] a user who has not asked for the time to live is forgotten, and changes do not prolong it', async () => {
    const clock = createHandClock();
    const state = createMemoryState({ clock, idleTtlMs: TTL_MS });
    for (const user of ['ann', 'bob']) await build(state, user, 'epoch-1', [plainRow({ conv: 'c' })]);
    await clock.pass(TTL_MS - 1);
    expect(await state.read('bob')).not.toBeNull();
    await applied(state, 'ann', { parts: [part()] });
    await clock.pass(1);
    expect(
      await state.apply([{ user: 'ann', op: 'message', rows: [], parts: [part({ fromRev: 2, toRev: 3 })] }]),
    ).toEqual([{ kind: 'missing' }]);
    expect(await state.read('ann')).toBeNull();
    expect(await state.read('bob')).not.toBeNull();
  });

  test('[SY10] a marker can be taken over when it is as old as allowed, and not before', async () => {
    const clock = createHandClock();
    const state = createMemoryState({ clock });
    await state.beginBuild('ann', 'first', NEVER_MS);
    await clock.pass(9_999);
    expect(await state.beginBuild('ann', 'second', 10_000)).toBe(false);
    await clock.pass(1);
    expect(await state.beginBuild('ann', 'second', 10_000)).toBe(true);
  });

  test('[CN8] a large conversation whose rev was forgotten counts as not known', async () => {
    const state = createMemoryState({ clock: createHandClock(), largeMax: 2 });
    const convs = ['a', 'b', 'c'];
    await build(
      state,
      'ann',
      'epoch-1',
      convs.map((conv) => plainRow({ conv, large: true, convRev: 5 })),
    );
    await state.raiseLarge(
      new Map([
        ['a', 5],
        ['b', 5],
      ]),
    );
    await state.raiseLarge(
      new Map([
        ['a', 5],
        ['c', 5],
      ]),
    );
    expect((await state.read('ann'))?.largeBehind).toEqual(['b']);
  });

  test('dies with its process, so changes owe it no outbox row', () => {
    expect(createMemoryState({ clock: createHandClock() }).outlivesProcess).toBe(false);
  });
});
