import type { Deadline } from '../deadline.ts';
import { tooLate } from '../deadline.ts';
import { Unavailable } from '../errors.ts';

export interface BatcherOptions<Item, Answer> {
  /**
   * Runs one batch; answers in the order of the items. If it throws, every item of the batch fails with that error; but where
   * `isolates` holds, the batch is run again in halves until the culprit stands alone with its error (ARCHITECTURE, truth and state).
   */
  readonly run: (items: readonly Item[]) => Promise<readonly Answer[]>;
  readonly isolates?: (error: unknown) => boolean;
  /** What an item counts for against the two limits below (1 unless told). */
  readonly weightOf?: (item: Item) => number;
  /** Weight of one batch; a single heavier item makes a batch of its own. */
  readonly batchWeightMax: number;
  /** Weight that may wait; beyond it items are refused with Unavailable, so that overload never becomes a growing queue. */
  readonly waitingWeightMax: number;
  readonly soon: (run: () => void) => void;
  /** What waits for its turn longer than its caller waits is refused, and not begun. */
  readonly deadlineOf?: (item: Item) => Deadline | undefined;
}

interface Entry<Item, Answer> {
  readonly item: Item;
  readonly weight: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Natural batching: while one batch is in flight the next gathers; nothing waits when idle. Under load batches grow by themselves,
 * which is what makes a hot row cheap (ARCHITECTURE, truth and state: 50 messages a transaction, 20 to 30 times the rate of one).
 */
export class Batcher<Item, Answer> {
  readonly #options: BatcherOptions<Item, Answer>;
  #waiting: Entry<Item, Answer>[] = [];
  #waitingWeight = 0;
  #running = false;
  #idleListeners: (() => void)[] = [];

  constructor(options: BatcherOptions<Item, Answer>) {
    this.#options = options;
  }

  add(item: Item): Promise<Answer> {
    const weight = this.#options.weightOf?.(item) ?? 1;
    if (this.#waiting.length > 0 && this.#waitingWeight + weight > this.#options.waitingWeightMax) {
      return Promise.reject(new Unavailable('too much is waiting to be written', 1000));
    }
    return new Promise<Answer>((resolve, reject) => {
      this.#waiting.push({ item, weight, resolve, reject });
      this.#waitingWeight += weight;
      if (!this.#running) {
        this.#running = true;
        this.#options.soon(() => void this.#drain());
      }
    });
  }

  get waitingWeight(): number {
    return this.#waitingWeight;
  }

  /** Resolves when nothing waits and nothing is in flight. */
  idle(): Promise<void> {
    if (!this.#running) return Promise.resolve();
    return new Promise((resolve) => this.#idleListeners.push(resolve));
  }

  #take() {
    this.#refuseLate();
    let count = 0;
    let weight = 0;
    for (const entry of this.#waiting) {
      if (count > 0 && weight + entry.weight > this.#options.batchWeightMax) break;
      weight += entry.weight;
      count++;
    }
    this.#waitingWeight -= weight;
    return this.#waiting.splice(0, count);
  }

  #refuseLate(): void {
    const { deadlineOf } = this.#options;
    if (deadlineOf === undefined) return;
    this.#waiting = this.#waiting.filter(({ item, weight, reject }) => {
      if (deadlineOf(item)?.isOver !== true) return true;
      this.#waitingWeight -= weight;
      reject(tooLate());
      return false;
    });
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) await this.#settle(this.#take());
    this.#running = false;
    for (const resolve of this.#idleListeners.splice(0)) resolve();
  }

  async #settle(batch: readonly Entry<Item, Answer>[]): Promise<void> {
    if (batch.length === 0) return;
    try {
      const answers = await this.#options.run(batch.map((entry) => entry.item));
      batch.forEach((entry, i) => entry.resolve(answers[i] as Answer));
    } catch (error) {
      if (batch.length === 1 || !this.#options.isolates?.(error)) {
        for (const entry of batch) entry.reject(error);
        return;
      }
      const half = batch.length >> 1;
      await this.#settle(batch.slice(0, half));
      await this.#settle(batch.slice(half));
    }
  }
}
