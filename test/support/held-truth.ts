import type { Truth } from '../../src/ports.ts';
import { overriding } from './overriding.ts';
import { createStop, type Stop } from './stop.ts';

export interface HeldTruth {
  readonly truth: Truth;
  /** The next transaction stops before its commit: it has read and written everything, and holds its locks. */
  holdCommit(): Stop;
}

export function createHeldTruth(inner: Truth): HeldTruth {
  let next: Stop | null = null;
  return {
    truth: overriding<Truth>(inner, {
      transact: (work) =>
        inner.transact(async (tx) => {
          const answer = await work(tx);
          const stop = next;
          next = null;
          await stop?.here();
          return answer;
        }),
    }),
    holdCommit() {
      next = createStop();
      return next;
    },
  };
}
