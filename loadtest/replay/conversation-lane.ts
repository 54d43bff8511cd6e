/** The events of one conversation, in their order: while one request is under way the next gathers. */
import type { Target } from '../target.ts';
import type { TraceEvent } from './trace.ts';

export interface LaneOptions {
  readonly target: Target;
  /** A message has been answered: its seq, and when its request was sent. */
  readonly onMessage: (conv: string, messageId: string, seq: number, sentAtMs: number) => void;
  readonly onFault: (text: string) => void;
}

interface Waiting {
  readonly event: TraceEvent['event'];
  /** Acks that have to be in before this event may go out. */
  readonly after: Promise<unknown> | null;
}

type EventResult = { ok: true; seq?: number } | { ok: false; error: { code: string; message: string } };

const EVENTS_A_REQUEST = 500;

export class ConversationLane {
  readonly #options: LaneOptions;
  #waiting: Waiting[] = [];
  #running: Promise<void> | null = null;
  #added = 0;
  #listeners: { count: number; resolve: () => void }[] = [];
  posted = 0;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  add(event: TraceEvent['event'], after: Promise<unknown> | null): void {
    this.#added++;
    this.#waiting.push({ event, after });
    this.#running ??= this.#run();
  }

  get backlog(): number {
    return this.#waiting.length;
  }

  /** Resolves when every event added before this call has been answered. */
  caughtUp(): Promise<void> {
    if (this.posted >= this.#added) return Promise.resolve();
    const count = this.#added;
    return new Promise((resolve) => this.#listeners.push({ count, resolve }));
  }

  /** Resolves when nothing is left. */
  async settled(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #run(): Promise<void> {
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      await this.#waiting[0]?.after;
      // Up to the next event that has to wait for something of its own.
      let count = 1;
      while (count < EVENTS_A_REQUEST && this.#waiting[count]?.after === null) count++;
      await this.#post(this.#waiting.splice(0, count).map(({ event }) => event));
    }
    this.#running = null;
  }

  async #post(events: TraceEvent['event'][]): Promise<void> {
    const { target, onMessage, onFault } = this.#options;
    const sentAtMs = performance.now();
    const { results } = await target.request<{ results: EventResult[] }>('POST', '/v1/events', { events });
    results.forEach((result, i) => {
      const event = events[i] as TraceEvent['event'];
      if (!result.ok)
        onFault(`${event.type} in ${event.conv} was refused: ${result.error.code}: ${result.error.message}`);
      else if (event.type === 'message.created')
        onMessage(event.conv, event.message_id ?? '', result.seq ?? 0, sentAtMs);
    });
    this.posted += events.length;
    while ((this.#listeners[0]?.count ?? Infinity) <= this.posted) this.#listeners.shift()?.resolve();
  }
}
