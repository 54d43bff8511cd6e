import { setImmediate } from 'node:timers/promises';
import type { ClientClock } from '../../client/index.ts';

/** Time that passes only when it is told to. Timers due at the same moment run in the order in which they were set. */
export class VirtualClock implements ClientClock {
  #now: number;
  #setByMs = 0;
  #timers: { dueAt: number; order: number; run: () => void }[] = [];
  #order = 0;

  constructor(startMs = 1_700_000_000_000) {
    this.#now = startMs;
  }

  nowMs(): number {
    return this.#now + this.#setByMs;
  }

  after(delayMs: number, run: () => void): () => void {
    // Whole milliseconds, as every clock has them.
    const timer = { dueAt: this.#now + Math.ceil(Math.max(0, delayMs)), order: this.#order++, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** The same time, for one that is asked afterwards how many of its timers are still set. */
  counted(): ClientClock & { timers(): number } {
    const set = new Set<() => void>();
    return {
      nowMs: () => this.nowMs(),
      after: (delayMs, run) => {
        const stop = this.after(delayMs, () => {
          set.delete(cancel);
          run();
        });
        const cancel = () => {
          set.delete(cancel);
          stop();
        };
        set.add(cancel);
        return cancel;
      },
      timers: () => set.size,
    };
  }

  /** Lets `ms` pass. Promises settle after each timer. */
  async pass(ms: number): Promise<void> {
    const until = this.#now + ms;
    await setImmediate();
    for (;;) {
      const next = this.#timers
        .filter(({ dueAt }) => dueAt <= until)
        .toSorted((a, b) => a.dueAt - b.dueAt || a.order - b.order)[0];
      if (next === undefined) break;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.#now = Math.max(this.#now, next.dueAt);
      next.run();
      await setImmediate();
    }
    this.#now = until;
  }

  /** Lets time pass, up to `ms`, until the condition is true; answers whether it is. */
  async passUntil(condition: () => boolean, ms: number): Promise<boolean> {
    const until = this.#now + ms;
    await setImmediate();
    while (!condition() && this.#now < until) {
      const dueAt = Math.min(until, ...this.#timers.map((timer) => timer.dueAt));
      await this.pass(Math.max(0, dueAt - this.#now));
    }
    return condition();
  }

  /** Sets what `nowMs` says forward or back; no time passes by it. */
  set(byMs: number): void {
    this.#setByMs += byMs;
  }

  /** The machine sleeps: the clock goes on, no timer runs; they are late when it wakes. */
  sleep(ms: number): void {
    this.#now += ms;
  }
}
