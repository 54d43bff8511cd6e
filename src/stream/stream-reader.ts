import type { EventError, EventResult } from '../../protocol/index.ts';
import { Unavailable } from '../errors.ts';
import type { Metrics } from '../metrics.ts';
import type { Clock, Random } from '../ports.ts';
import type { Post } from '../services/post.ts';
import { HeldStream } from './held-stream.ts';
import type { Places } from './places.ts';
import { type StreamEntry, valueOf } from './stream-entry.ts';
import { streamKeys } from './stream-keys.ts';
import type { StreamLink } from './stream-link.ts';
import { WaitingRefusals } from './waiting-refusals.ts';

export interface StreamReaderDeps {
  readonly link: StreamLink;
  readonly prefix: string;
  readonly post: Pick<Post, 'post'>;
  /** Throws Unavailable while the state is away. */
  readonly ready: () => Promise<void>;
  readonly places: Places;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: Metrics;
  readonly onError: (error: unknown) => void;
  readonly leaseMs: number;
  /** From the first refusal of an entry to its second delivery; twice as long before each further one. */
  readonly refusedRetryMs: number;
  /** Pauses grow up to this. */
  readonly pauseMaxMs: number;
}

const DELIVERIES_MAX = 5;
/** An empty stream is asked again after this, and after twice as long each further time. */
const IDLE_FIRST_MS = 5;
const IDLE_MAX_MS = 50;
/** Who does not hold a stream looks so often whether it has become free. */
const LOOK_MS = 1000;
const PAUSE_FIRST_MS = 250;
const TOKEN_LENGTH = 16;

/**
 * One stream, as seen by one node (docs/STREAM.md):
 *
 *     looking ──free──▶ left: what earlier readers left ──end──▶ new: new entries, and refused ones again
 *        ▲                     │                                      │
 *        └──── pause ◀── a store away, the stream lost or given back ◀┘
 *
 * One batch at a time: taken, posted, written down as done or refused. Of a hold that ends nothing is kept in memory.
 */
export class StreamReader {
  readonly #deps: StreamReaderDeps;
  readonly #partition: number;
  #held: HeldStream | null = null;
  #refusals: WaitingRefusals;
  #idleMs = IDLE_FIRST_MS;
  #pauses = 0;
  #isStopping = false;
  #wake: () => void = () => {};
  #running: Promise<void> = Promise.resolve();

  constructor(deps: StreamReaderDeps, partition: number) {
    this.#deps = deps;
    this.#partition = partition;
    this.#refusals = new WaitingRefusals(deps.refusedRetryMs);
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Takes nothing more, ends what it has, and gives the stream back. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      let waitMs: number;
      try {
        waitMs = await this.#round();
        if (this.#held) this.#pauses = 0;
      } catch (error) {
        waitMs = await this.#pause(error);
      }
      if (waitMs > 0) await this.#sleep(waitMs);
    }
    await this.#giveBack();
  }

  /** Answers after how many ms the next is due. */
  async #round(): Promise<number> {
    const { places, clock, metrics } = this.#deps;
    // Between two batches, so that nothing is in hand.
    if (places.isAboveShare) await this.#giveBack();
    const held = this.#held ?? this.#begin();
    if (held === null) return this.#lookMs();
    const taken = await held.take(this.#refusals.due(clock.steadyMs()));
    if (taken === null) {
      this.#lose();
      return this.#lookMs();
    }
    metrics.streamWaiting(this.#partition, taken.length);
    if (taken.redelivered > 0) metrics.streamRedelivered(taken.redelivered);
    if (taken.entries.length > 0) {
      this.#idleMs = IDLE_FIRST_MS;
      if (!(await this.#apply(held, taken.entries))) this.#lose();
      return 0;
    }
    this.#idleMs = Math.min(IDLE_MAX_MS, 2 * this.#idleMs);
    return this.#idleMs;
  }

  /** False: the stream was lost meanwhile. */
  async #apply(held: HeldStream, entries: readonly StreamEntry[]): Promise<boolean> {
    const stopRenewing = this.#renewing(held);
    try {
      await this.#deps.ready();
      const results = await this.#post(entries);
      const done: string[] = [];
      const refused: [StreamEntry, EventError][] = [];
      for (const [i, entry] of entries.entries()) {
        const result = results[i] as EventResult;
        if (result.ok) done.push(entry.id);
        else refused.push([entry, result.error]);
      }
      const counts = await held.settle(
        done,
        refused.map(([{ id }]) => id),
      );
      if (counts === null) return false;
      this.#refusals.forget(done);
      const dead = refused.filter(([entry], i) => entry.isGone || (counts[i] ?? 0) >= DELIVERIES_MAX);
      for (const [i, [{ id }]] of refused.entries())
        this.#refusals.add(id, counts[i] ?? 0, this.#deps.clock.steadyMs());
      return await this.#bury(held, dead);
    } finally {
      stopRenewing();
    }
  }

  async #bury(held: HeldStream, dead: readonly (readonly [StreamEntry, EventError])[]): Promise<boolean> {
    if (dead.length === 0) return true;
    for (const [entry, error] of dead) {
      await held.bury(entry, error);
      this.#deps.metrics.streamDeadLettered(error.code);
    }
    const ids = dead.map(([{ id }]) => id);
    this.#refusals.forget(ids);
    return (await held.settle(ids, [])) !== null;
  }

  /** One result an entry. Throws Unavailable. */
  async #post(entries: readonly StreamEntry[]): Promise<EventResult[]> {
    const { stream } = streamKeys(this.#deps.prefix, this.#partition);
    const values = entries.map((entry) => valueOf(entry, `${stream}:${entry.id}`));
    const posted = await this.#postValues(values.flatMap((one) => (one.ok ? [one.value] : [])));
    let next = 0;
    return values.map((one) => (one.ok ? (posted[next++] as EventResult) : { ok: false, error: one.error }));
  }

  /** What fails without truth being away is tried in halves until the culprit stands alone: it must not stop the stream. */
  async #postValues(values: readonly unknown[]): Promise<EventResult[]> {
    if (values.length === 0) return [];
    try {
      return await this.#deps.post.post(values);
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      if (values.length === 1) {
        this.#deps.onError(error);
        return [{ ok: false, error: { code: 'internal', message: 'the event could not be stored' } }];
      }
      const half = values.length >> 1;
      return [...(await this.#postValues(values.slice(0, half))), ...(await this.#postValues(values.slice(half)))];
    }
  }

  #begin(): HeldStream | null {
    const { places, link, prefix, random, leaseMs } = this.#deps;
    if (!places.take()) return null;
    const keys = streamKeys(prefix, this.#partition);
    this.#held = new HeldStream({ link, prefix, keys, leaseMs, token: random.token(TOKEN_LENGTH) });
    this.#refusals = new WaitingRefusals(this.#deps.refusedRetryMs);
    return this.#held;
  }

  #lose(): void {
    if (this.#held === null) return;
    this.#held = null;
    this.#deps.places.free();
    this.#deps.metrics.streamWaiting(this.#partition, null);
  }

  /** Another node may be better off, so the stream is free meanwhile. No delivery counts. */
  async #pause(error: unknown): Promise<number> {
    const { metrics, onError, random, pauseMaxMs } = this.#deps;
    metrics.streamPaused();
    // An outage is told once, not by every try of every stream.
    if (this.#pauses === 0 || !(error instanceof Unavailable)) onError(error);
    await this.#giveBack();
    const longestMs = Math.min(pauseMaxMs, PAUSE_FIRST_MS * 2 ** Math.min(this.#pauses++, 10));
    return longestMs * (0.5 + random.fraction() / 2);
  }

  async #giveBack(): Promise<void> {
    const held = this.#held;
    this.#lose();
    try {
      await held?.giveBack();
    } catch (error) {
      // It runs out by itself.
      if (!(error instanceof Unavailable)) this.#deps.onError(error);
    }
  }

  /** A batch may take longer than a lease: truth or state may be slow. */
  #renewing(held: HeldStream): () => void {
    const { clock, leaseMs, onError } = this.#deps;
    let cancel = (): void => {};
    const wait = (): void => {
      cancel = clock.after(leaseMs / 3, () => {
        held.renew().catch(onError);
        wait();
      });
    };
    wait();
    return () => cancel();
  }

  #lookMs(): number {
    return LOOK_MS * (0.5 + this.#deps.random.fraction() / 2);
  }

  async #sleep(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#deps.clock.after(ms, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
      if (this.#isStopping) this.#wake();
    });
  }
}
