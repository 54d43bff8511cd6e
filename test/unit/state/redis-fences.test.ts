import { expect, test } from 'vitest';
import { Fences } from '../../../src/state/redis/fences.ts';
import type { Link } from '../../../src/state/redis/link.ts';
import { MemoryFences } from '../../support/memory-fences.ts';

/** As far as fences look at it. */
function linkTo(runId: string): Link {
  return { copy: { runId, replId: `replication of ${runId}` } } as Link;
}

test('[SY10] a partition that comes to another master has no number there before that copy has been compared', async () => {
  const store = new MemoryFences();
  const fences = new Fences(store);
  const [first, second] = [linkTo('first'), linkTo('second')];
  await fences.admit(first, [1, 2]);
  await fences.admit(second, [3]);
  const numberOfFirst = fences.numberFor(1, first);
  expect(numberOfFirst).not.toBeNull();
  expect(fences.numberFor(1, second)).toBeNull();

  await fences.admit(second, [1]);
  expect(fences.numberFor(1, second)).toBeGreaterThan(numberOfFirst!);
  expect(fences.numberFor(1, first)).toBeNull();
  // What stayed where it was is still served under its number.
  expect(fences.numberFor(2, first)).toBe(numberOfFirst);
  expect((await store.read()).get(1)).toMatchObject({ runId: 'second' });
});
