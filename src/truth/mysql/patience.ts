import { Unavailable } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';
import type { Clock, Random } from '../../ports.ts';
import { failureOf, RETRY_MS, translated } from './failure.ts';

/** A caller is answered within 3 s (ARCHITECTURE, flows), of which the state needs some. */
const DEADLINE_MS = 2_500;
/** A server that has no place for a connection will not have one the next moment either. */
const AWAY_MS = 1_000;
/** Work that goes on is not broken off: a conversation of 10,000 members takes its time. But not for ever. */
const WORK_MS = 60_000;
/** What is answered so fast is going on. */
const QUICK_MS = 500;
const BACKOFF_FIRST_MS = 5;
const BACKOFF_MAX_MS = 200;
/** Who waited behind a call that got no answer is not made to wait as long again, unless the server is quick enough with others. */
const OUTAGE_MS = 250;

/** One call of truth: when it has to give up, and how it is getting on. */
export interface Turn {
  readonly signal: AbortSignal;
  /** Told of each answer of the server. */
  answered(tookMs: number): void;
}

/**
 * How long and how often truth is tried. What was contended, or failed for want of a connection, runs again after a random pause; what
 * gets no quick answer for too long is given up. Whatever comes out is what callers of truth are told.
 */
export class Patience {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #metrics: Metrics;
  #outageUntilMs = -Infinity;
  #quickAtMs = -Infinity;

  constructor(clock: Clock, random: Random, metrics: Metrics) {
    this.#clock = clock;
    this.#random = random;
    this.#metrics = metrics;
  }

  /**
   * `attempt` must leave nothing behind where it fails with anything but Unavailable, which is passed on. `deadlineMs`: the longest
   * that one statement may take.
   */
  async within<T>(attempt: (turn: Turn) => Promise<T>, deadlineMs = DEADLINE_MS): Promise<T> {
    const startMs = this.#clock.steadyMs();
    if (startMs < this.#outageUntilMs) throw new Unavailable('truth is away', RETRY_MS);
    const controller = new AbortController();
    const { signal } = controller;
    let quickAtMs = startMs;
    const watch = (afterMs: number): (() => void) =>
      this.#clock.after(afterMs, () => {
        const nowMs = this.#clock.steadyMs();
        const leftMs = Math.min(quickAtMs + deadlineMs, startMs + WORK_MS) - nowMs;
        if (leftMs > 0) {
          cancel = watch(leftMs);
          return;
        }
        this.#noteOutage(deadlineMs);
        controller.abort(new Unavailable('truth did not answer in time', RETRY_MS));
      });
    let cancel = watch(deadlineMs);
    const answered = (tookMs: number): void => {
      if (tookMs < QUICK_MS) this.#quickAtMs = quickAtMs = this.#clock.steadyMs();
    };
    try {
      for (let tries = 0; ; tries++) {
        try {
          return await attempt({ signal, answered });
        } catch (error) {
          if (signal.aborted) throw translated(error);
          this.#metrics.truthRetried(this.#retryable(error, this.#clock.steadyMs() - startMs));
          await this.#pause(tries, signal, error);
        }
      }
    } finally {
      cancel();
    }
  }

  /** Why it may run again; throws what the caller is told where it may not. */
  #retryable(error: unknown, triedMs: number): 'contended' | 'away' {
    const failure = failureOf(error);
    if (failure === 'refused') throw translated(error);
    if (failure === 'contended' && triedMs > DEADLINE_MS) throw translated(error);
    if (failure === 'away' && triedMs > AWAY_MS) {
      this.#noteOutage(AWAY_MS);
      throw translated(error);
    }
    return failure;
  }

  /** After a call that had no answer for `silentMs`; where others had one it was no outage. */
  #noteOutage(silentMs: number): void {
    const nowMs = this.#clock.steadyMs();
    if (nowMs - this.#quickAtMs >= silentMs) this.#outageUntilMs = nowMs + OUTAGE_MS;
  }

  /** Full jitter, so that those who met once do not meet again. */
  async #pause(tries: number, signal: AbortSignal, error: unknown): Promise<void> {
    const ms = this.#random.fraction() * Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** tries);
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(ms, () => {
        signal.removeEventListener('abort', expired);
        resolve();
      });
      const expired = (): void => {
        cancel();
        reject(translated(error));
      };
      signal.addEventListener('abort', expired, { once: true });
    });
  }
}
