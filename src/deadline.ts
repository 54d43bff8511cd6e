import { Unavailable } from './errors.ts';
import type { Clock } from './ports.ts';

/** Every call is answered within 3 s, whatever the stores do; the way there and back takes some of it. */
const ANSWER_WITHIN_MS = 2300;
/** Steps that come so fast say that the stores are not what is slow. */
const QUICK_STEP_MS = 1000;
/** A timer that is so much behind says that this process stood still: what has come meanwhile is looked at first. */
const STOOD_STILL_MS = 100;
const RETRY_MS = 1000;
/** First pause before what failed for want of a store is tried again; each further one is twice as long. */
const AGAIN_FIRST_MS = 50;

/** What is told to whoever waited until the deadline. What was asked for may have been done, or be done yet. */
export function tooLate(): Unavailable {
  return new Unavailable('there was no answer in time; the same may be asked again', RETRY_MS);
}

/**
 * Until when whoever asked waits. The edges make one a call and answer for it (`meet`); services are given it, so that nothing is begun
 * or gone on with for which nobody waits any more. A call may have been carried out although its deadline passed, so only what does
 * no harm twice is offered at an edge: facts under ids, positions, reads.
 */
export class Deadline {
  readonly #clock: Pick<Clock, 'steadyMs' | 'after'>;
  #stepAtMs: number;
  #dueMs: number;
  #expire: (() => void) | null = null;
  #cancelTimer: (() => void) | null = null;

  constructor(clock: Pick<Clock, 'steadyMs' | 'after'>, sinceMs = clock.steadyMs()) {
    this.#clock = clock;
    this.#stepAtMs = sinceMs;
    this.#dueMs = sinceMs + ANSWER_WITHIN_MS;
  }

  get leftMs(): number {
    return Math.max(0, this.#dueMs - this.#clock.steadyMs());
  }

  get isOver(): boolean {
    return this.leftMs === 0;
  }

  /** Throws `tooLate` when it is over. */
  demand(): void {
    if (this.isOver) throw tooLate();
  }

  /** A store that is away for a moment, as where a connection was cut, is waited for: runs it again while there is time. */
  async again<T>(run: () => Promise<T>): Promise<T> {
    for (let pauseMs = AGAIN_FIRST_MS; ; pauseMs *= 2) {
      try {
        return await run();
      } catch (error) {
        const isAway = error instanceof Unavailable && error.code === 'unavailable';
        if (!isAway || this.leftMs <= pauseMs) throw error;
      }
      await new Promise<void>((resolve) => this.#clock.after(pauseMs, resolve));
    }
  }

  /** The caller is still saying what it wants: until `begin` nothing is late. */
  suspend(): void {
    this.#dueMs = Infinity;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  begin(): void {
    this.#stepAtMs = this.#clock.steadyMs();
    this.#dueMs = this.#stepAtMs + ANSWER_WITHIN_MS;
    this.#arm();
  }

  /** A step is done of work that takes as long as there is to do. Where it came fast, the next ones may take `forMs` from now. */
  goesOn(forMs = ANSWER_WITHIN_MS): void {
    const nowMs = this.#clock.steadyMs();
    if (nowMs - this.#stepAtMs <= QUICK_STEP_MS) this.#dueMs = Math.max(this.#dueMs, nowMs + forMs);
    this.#stepAtMs = nowMs;
  }

  /** The answer, or `tooLate` at the deadline. `onLate`: told of a failure of what nobody waited for any more. */
  meet<T>(answer: Promise<T>, onLate: (error: unknown) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let isLate = false;
      this.#expire = () => {
        isLate = true;
        reject(tooLate());
      };
      this.#arm();
      answer.then(
        (value) => {
          this.#disarm();
          resolve(value);
        },
        (error: unknown) => {
          this.#disarm();
          if (isLate) onLate(error);
          else reject(error);
        },
      );
    });
  }

  #arm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    if (this.#expire === null || this.#dueMs === Infinity) return;
    const { leftMs } = this;
    const dueMs = this.#clock.steadyMs() + leftMs;
    this.#cancelTimer = this.#clock.after(leftMs, () => {
      this.#cancelTimer = null;
      const stoodStill = this.#clock.steadyMs() - dueMs > STOOD_STILL_MS;
      if (this.isOver && !stoodStill) this.#expire?.();
      else this.#arm();
    });
  }

  #disarm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#expire = null;
  }
}
