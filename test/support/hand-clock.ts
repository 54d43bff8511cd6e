import type { Clock } from '../../src/ports.ts';

/** A clock that stands still until it is moved by hand. */
export interface HandClock extends Clock {
  /** Moves on and runs what has become due, in the order of due times, each followed by the work that it set off. */
  pass(ms: number): Promise<void>;
  /** Sets what `nowMs` says forward or back; no time passes by it. */
  set(byMs: number): void;
  /** How many timers are waiting. */
  readonly waiting: number;
}

export function createHandClock(nowMs = 1_700_000_000_000): HandClock {
  let now = nowMs;
  let setByMs = 0;
  let timers: { dueMs: number; run: () => void }[] = [];
  return {
    nowMs: () => now + setByMs,
    steadyMs: () => now,
    after(delayMs, run) {
      const timer = { dueMs: now + delayMs, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((one) => one !== timer);
      };
    },
    soon: (run) => queueMicrotask(run),
    async pass(ms) {
      const end = now + ms;
      for (;;) {
        const [next] = timers.filter(({ dueMs }) => dueMs <= end).toSorted((a, b) => a.dueMs - b.dueMs);
        if (next === undefined) break;
        timers = timers.filter((one) => one !== next);
        now = next.dueMs;
        next.run();
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
      now = end;
    },
    set(byMs) {
      setByMs += byMs;
    },
    get waiting() {
      return timers.length;
    },
  };
}
