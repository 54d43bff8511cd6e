/**
 * How fast one socket may send frames: a burst at once, and in the long run a rate. All that is kept of a socket is one time, when what
 * it has sent would be due at the rate (GCRA). It may run into debt, since what has been read cannot be unread; then nothing more is
 * read until the debt is paid.
 */
export class FrameRate {
  readonly #frameMs: number;
  readonly #burstMs: number;

  constructor(burst: number, perSecond: number) {
    this.#frameMs = 1000 / perSecond;
    this.#burstMs = burst * this.#frameMs;
  }

  /** The due time after one more frame. Both are times of the steady clock: one that could be set back would make a debt of the step. */
  afterFrame(dueMs: number, nowMs: number): number {
    return Math.max(dueMs, nowMs) + this.#frameMs;
  }

  /** How many ms the socket must not be read; 0: go on. */
  owedMs(dueMs: number, nowMs: number): number {
    return Math.max(0, Math.ceil(dueMs - nowMs - this.#burstMs));
  }
}
