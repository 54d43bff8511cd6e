/**
 * A token bucket for the frames of one socket. It may run into debt, since what has been read cannot be unread; then nothing more is
 * read until the debt is paid.
 */
export class FrameRate {
  readonly #burst: number;
  readonly #perSecond: number;
  #tokens: number;
  #filledAtMs: number;

  constructor(burst: number, perSecond: number, nowMs: number) {
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#tokens = burst;
    this.#filledAtMs = nowMs;
  }

  /** Takes one frame; answers how many ms the socket must not be read (0: go on). */
  take(nowMs: number): number {
    this.owedMs(nowMs);
    this.#tokens -= 1;
    return this.#debtMs;
  }

  /** How many ms it takes until nothing is owed. */
  owedMs(nowMs: number): number {
    const refill = ((nowMs - this.#filledAtMs) * this.#perSecond) / 1000;
    // A clock that steps back takes nothing away.
    if (refill > 0) this.#tokens = Math.min(this.#burst, this.#tokens + refill);
    this.#filledAtMs = nowMs;
    return this.#debtMs;
  }

  get #debtMs(): number {
    return Math.max(0, Math.ceil((-this.#tokens / this.#perSecond) * 1000));
  }
}
