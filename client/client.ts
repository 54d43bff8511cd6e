// The client as an app sees it: numbers to show, things a user does, one connection that looks after itself.
import type { Command } from './command.ts';
import type { Stop } from './connection.ts';
import { createEmitter } from './emitter.ts';
import { Engine } from './engine.ts';
import type { ClientEvents, ClientOptions } from './engine.ts';
import { checkConv, clearIntent, prefsIntent, readAllIntent, readIntent, unreadIntent } from './intent.ts';
import type { ShownRow } from './overlay.ts';
import { TidemarkError } from './tidemark-error.ts';
import type { State } from './transitions.ts';
import type { Conversation } from './view.ts';

export class TidemarkClient {
  readonly #events = createEmitter<ClientEvents>();
  readonly #engine: Engine;

  constructor(options: ClientOptions) {
    this.#engine = new Engine(options, this.#events.emit);
  }

  // ------------------------------------------------------------------ connection

  get state(): State {
    return this.#engine.connection.state();
  }

  /** Why the client does not come back by itself; null unless `state` is `stopped`. */
  get stopped(): Stop | null {
    return this.#engine.connection.stop();
  }

  /** Known from the first welcome on, or from the store. */
  get user(): string | null {
    return this.#engine.user;
  }

  /** Idempotent. After a stop that is `retryable` it starts afresh, with a new token. */
  connect(): void {
    this.#engine.connect();
  }

  /** What was done is sent first; what is not confirmed by then stays for the next connection. */
  disconnect(): void {
    this.#engine.disconnect();
  }

  /** Ends the client for good. `forget`: a log-out, nothing of the user stays in the store. */
  async close(options: { forget?: boolean } = {}): Promise<void> {
    await this.#engine.close(options.forget === true);
    this.#events.clear();
  }

  /**
   * Asks the server where this device stands, or comes back sooner; for apps whose return to the foreground no browser
   * tells. `force`: although it was done a moment ago.
   */
  sync(options: { force?: boolean } = {}): void {
    this.#engine.sync(options.force === true);
  }

  // ------------------------------------------------------------------ numbers

  /** The same object until it changes; undefined when the conversation is not there (any more). */
  get(conv: string): Conversation | undefined {
    return this.#engine.view.get(conv);
  }

  /** Listed conversations; the same array until one of them changes. */
  list(): readonly Conversation[] {
    return this.#engine.view.list();
  }

  total(): number {
    return this.#engine.view.totals().total;
  }

  /** Muted conversations add only their mentions (CN3). */
  badge(): number {
    return this.#engine.view.totals().badge;
  }

  mentions(): number {
    return this.#engine.view.totals().mentions;
  }

  /** Whether a message is unread, given that it counts: countable, not recalled, not one's own. */
  isUnread(conv: string, seq: number): boolean {
    const held = this.#engine.view.get(conv);
    return held !== undefined && seq > held.floorSeq;
  }

  /** No message below this seq is unread: where to draw the line. Null: all is read. */
  firstUnread(conv: string): number | null {
    const held = this.#engine.view.get(conv);
    return held?.unread ? held.floorSeq + 1 : null;
  }

  /** Commands whose effect has not come back from the server yet. */
  pending(): readonly Command[] {
    return this.#engine.queue.commands();
  }

  // ------------------------------------------------------------------ what a user does

  /** Read up to `upTo`; without it, up to the newest message that this device knows of (CN8: capped, up to the end). */
  markRead(conv: string, options: { upTo?: number } = {}): void {
    this.#engine.give(readIntent(conv, this.#row(conv), options.upTo));
  }

  /** Unread again from `fromSeq` on; without it, only the flag (AK7). */
  markUnread(conv: string, options: { fromSeq?: number } = {}): void {
    this.#engine.give(unreadIntent(conv, this.#row(conv), options.fromSeq));
  }

  /** Everything that is shown as unread now; what comes meanwhile stays (AK8). */
  markAllRead(): void {
    this.#engine.give(readAllIntent(this.#engine.replica.shown(), this.#engine.view.rows()));
  }

  mute(conv: string, muted = true): void {
    this.#engine.give(prefsIntent(conv, this.#row(conv), { muted }));
  }

  /** Out of the list until the next message (LC4). */
  hide(conv: string, hidden = true): void {
    this.#engine.give(prefsIntent(conv, this.#row(conv), { hidden }));
  }

  /** Deletes the conversation up to `upTo`; without it, up to the newest message that this device knows of (LC3). */
  clear(conv: string, options: { upTo?: number } = {}): void {
    this.#engine.give(clearIntent(conv, this.#row(conv), options.upTo));
  }

  #row(conv: string): ShownRow | undefined {
    checkConv(conv);
    return this.#engine.view.row(conv);
  }

  // ------------------------------------------------------------------ being told

  /** Called after every change of what is shown, and of the state. Answers how to stop. */
  subscribe(listener: () => void): () => void {
    return this.#events.on('update', listener);
  }

  on<K extends keyof ClientEvents>(name: K, listener: (event: ClientEvents[K]) => void): () => void {
    return this.#events.on(name, listener);
  }

  /** Resolves when the state is reached or the condition is true; rejects when the client stops before, or on `signal`. */
  async waitFor(wanted: State | (() => boolean), options: { signal?: AbortSignal } = {}): Promise<void> {
    const reached = typeof wanted === 'string' ? () => this.state === wanted : wanted;
    let stopWaiting = () => {};
    return new Promise<void>((resolve, reject) => {
      const look = () => {
        if (reached()) resolve();
        else if (this.stopped !== null) reject(new TidemarkError('stopped', this.stopped.reason));
      };
      stopWaiting = this.subscribe(look);
      options.signal?.addEventListener('abort', () => reject(options.signal?.reason as Error));
      look();
    }).finally(() => stopWaiting());
  }
}
