/** From the request that posted a message to the frame that showed it, per device that showed it. */
import { build } from 'hdr-histogram-js';
import type { Row } from '../../protocol/index.ts';

/** Messages of one conversation whose time of posting is kept. */
const POSTS_KEPT = 5000;
const MICROSECONDS = 1000;

export class Latency {
  readonly #histogram = build({ lowestDiscernibleValue: 1, highestTrackableValue: 3_600_000_000 });
  readonly #postedAtMs = new Map<string, Map<number, number>>();
  readonly #shown = new Map<string, number>();

  posted(conv: string, seq: number, sentAtMs: number): void {
    let posts = this.#postedAtMs.get(conv);
    if (!posts) this.#postedAtMs.set(conv, (posts = new Map()));
    posts.set(seq, sentAtMs);
    if (posts.size > POSTS_KEPT) posts.delete(posts.keys().next().value as number);
  }

  /** A row arrived at a device: the newest message in it is on the badge now. */
  shown(device: string, row: Row): void {
    const key = `${device}${row.conv}`;
    const before = this.#shown.get(key) ?? 0;
    if (row.head_seq <= before) return;
    this.#shown.set(key, row.head_seq);
    const sentAtMs = this.#postedAtMs.get(row.conv)?.get(row.head_seq);
    // Shown before its own answer was read here: counted as the next one.
    if (sentAtMs === undefined) return;
    this.#histogram.recordValue(Math.max(1, Math.round((performance.now() - sentAtMs) * MICROSECONDS)));
  }

  get samples(): number {
    return this.#histogram.totalCount;
  }

  /** Milliseconds. */
  percentile(percent: number): number {
    return this.#histogram.getValueAtPercentile(percent) / MICROSECONDS;
  }
}
