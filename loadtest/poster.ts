/** The message service: events go out as soon as they are due; while a request of a lane is under way, the next ones gather behind it. */
import type { EventResult, EventsAnswer } from '../protocol/index.ts';
import { Histogram } from './histogram.ts';
import type { Target } from './target.ts';

export interface PosterOptions {
  readonly target: Target;
  /** Requests under way at once. The events of one conversation keep to one lane, so they stay in order. */
  readonly lanes: number;
  /** An event was refused. */
  readonly onFault: (text: string) => void;
}

interface Waiting {
  readonly event: object;
  readonly dueMs: number;
  readonly onAnswer: (result: EventResult & { ok: true }) => void;
}

const EVENTS_A_REQUEST = 500;

export class Poster {
  readonly #options: PosterOptions;
  readonly #waiting: Waiting[][];
  readonly #running = new Map<number, Promise<void>>();
  readonly times = new Histogram();
  /** How late an event was handed over after it was due: the fault of this program, not of the server. */
  readonly lateness = new Histogram();
  #fault: { readonly error: unknown } | null = null;

  constructor(options: PosterOptions) {
    this.#options = options;
    this.#waiting = Array.from({ length: options.lanes }, () => []);
  }

  /** `key` chooses the lane: the number of a conversation. */
  post(key: number, event: object, dueMs: number, onAnswer: Waiting['onAnswer'] = () => {}): void {
    this.lateness.record(performance.now() - dueMs);
    const lane = key % this.#options.lanes;
    this.#waiting[lane]?.push({ event, dueMs, onAnswer });
    if (!this.#running.has(lane)) this.#running.set(lane, this.#run(lane));
  }

  /** Resolves when everything posted so far has been answered; rejects when a request was refused as a whole. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
    if (this.#fault !== null) throw new Error('events could not be posted', { cause: this.#fault.error });
  }

  async #run(lane: number): Promise<void> {
    await Promise.resolve();
    const waiting = this.#waiting[lane] ?? [];
    try {
      while (waiting.length > 0) await this.#request(waiting.splice(0, EVENTS_A_REQUEST));
    } catch (error) {
      this.#fault ??= { error };
    }
    this.#running.delete(lane);
  }

  async #request(batch: readonly Waiting[]): Promise<void> {
    const events = batch.map(({ event }) => event);
    const { results } = await this.#options.target.request<EventsAnswer>('POST', '/v1/events', { events });
    const nowMs = performance.now();
    batch.forEach(({ dueMs, onAnswer }, i) => {
      const result = results[i];
      this.times.record(nowMs - dueMs);
      if (result?.ok === true) onAnswer(result);
      else this.#options.onFault(`an event was refused: ${result?.error.code}: ${result?.error.message}`);
    });
  }
}
