import { expect, test } from 'vitest';
import { Unavailable } from '../../../src/errors.ts';
import { claimedState } from '../../../src/state/claimed-state.ts';
import { createMemoryState } from '../../../src/state/memory.ts';
import { createHandClock } from '../../support/hand-clock.ts';

test('[SY10] state in memory is away while its node may not be the only one; who changes then is forgotten, who does not is kept', async () => {
  let isHeld = true;
  const memory = createMemoryState({ clock: createHandClock() });
  const state = claimedState(memory, () => isHeld);
  for (const user of ['ann', 'bob', 'cid']) {
    await state.beginBuild(user, 'token', 1000);
    if (user !== 'cid') await state.completeBuild(user, 'token', 'epoch', []);
  }
  const change = (user: string) => state.apply([{ user, op: 'merged', rows: [], parts: [] }]);
  expect(await change('ann')).toMatchObject([{ kind: 'applied' }]);

  isHeld = false;
  await expect(state.ping()).rejects.toThrow(Unavailable);
  await expect(state.read('ann')).rejects.toThrow(Unavailable);
  await expect(state.beginBuild('dan', 'token', 1000)).rejects.toThrow(Unavailable);
  await expect(state.completeBuild('cid', 'token', 'epoch', [])).rejects.toThrow(Unavailable);
  expect(await change('bob')).toEqual([{ kind: 'missing' }]);
  expect(await change('cid')).toEqual([{ kind: 'missing' }]);

  isHeld = true;
  await state.ping();
  expect(await state.read('ann')).toMatchObject({ user: 'ann', epoch: 'epoch' });
  expect(await state.read('bob')).toBeNull();
  // What the build has read may be older than the change.
  expect(await state.completeBuild('cid', 'token', 'epoch', [])).toEqual({ stored: false, dirty: [] });
});
