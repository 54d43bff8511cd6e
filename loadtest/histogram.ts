import { build, type Histogram as Hdr } from 'hdr-histogram-js';

/** Percentiles in milliseconds. */
export interface Quantiles {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

/** Kept in microseconds, to three digits. */
const US_PER_MS = 1000;
const HOUR_US = 3_600_000_000;

/** Times of many things, as an HDR histogram: no sampling, and no loss at the far end. */
export class Histogram {
  readonly #hdr: Hdr = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: HOUR_US,
    numberOfSignificantValueDigits: 3,
  });

  record(ms: number): void {
    this.#hdr.recordValue(Math.min(HOUR_US, Math.max(1, Math.round(ms * US_PER_MS))));
  }

  get count(): number {
    return this.#hdr.totalCount;
  }

  quantiles(): Quantiles {
    const at = (percent: number): number =>
      this.count === 0 ? 0 : this.#hdr.getValueAtPercentile(percent) / US_PER_MS;
    return { count: this.count, p50: at(50), p90: at(90), p95: at(95), p99: at(99), p999: at(99.9), max: at(100) };
  }
}
