import { Unavailable } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';
import type { Clock, Random } from '../../ports.ts';
import { failureOf, RETRY_MS, translated } from './failure.ts';

/** A caller is answered within 3 s (DESIGN §3), of which the state needs some. */
const DEADLINE_MS = 2_500;
const BACKOFF_FIRST_MS = 5;
const BACKOFF_MAX_MS = 200;
/** Who waited behind a call that ran into its deadline is not made to wait as long again, unless the server is quick enough with others. */
const OUTAGE_MS = 250;
const QUICK_MS = 500;

/**
 * How long and how often truth is tried: what was contended, or failed for want of a connection, runs again after a random pause, all
 * of it within one deadline. Whatever comes out is what callers of truth are told.
 */
export class Patience {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #metrics: Metrics;
  #outageUntilMs = 0;
  #quickAtMs = 0;

  constructor(clock: Clock, random: Random, metrics: Metrics) {
    this.#clock = clock;
    this.#random = random;
    this.#metrics = metrics;
  }

  answered(tookMs: number): void {
    if (tookMs < QUICK_MS) this.#quickAtMs = this.#clock.nowMs();
  }

  /** `attempt` must leave nothing behind where it fails with anything but Unavailable, which is passed on. */
  async within<T>(attempt: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#clock.nowMs() < this.#outageUntilMs) throw new Unavailable('truth is away', RETRY_MS);
    const controller = new AbortController();
    const { signal } = controller;
    const cancel = this.#clock.after(DEADLINE_MS, () => {
      const nowMs = this.#clock.nowMs();
      if (nowMs - this.#quickAtMs >= DEADLINE_MS) this.#outageUntilMs = nowMs + OUTAGE_MS;
      controller.abort(new Unavailable('truth did not answer in time', RETRY_MS));
    });
    try {
      for (let tries = 0; ; tries++) {
        try {
          return await attempt(signal);
        } catch (error) {
          const failure = failureOf(error);
          if (failure === 'refused' || signal.aborted) throw translated(error);
          this.#metrics.truthRetried(failure);
          await this.#pause(tries, signal, error);
        }
      }
    } finally {
      cancel();
    }
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
