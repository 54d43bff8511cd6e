// The client as an app sees it: numbers to show, things a user does, one connection that looks after itself.
import { clientJsonCodec } from './json-codec.ts';
import type { ClientCodec } from './json-codec.ts';

import type { ErrorFrame, ServerFrame } from '../protocol/server-frames.ts';
import type { Command } from './command.ts';
import { createCommandQueue } from './command-queue.ts';
import type { Answered } from './command-queue.ts';
import { createConnection } from './connection.ts';
import type { Connection, Stop } from './connection.ts';
import { createEmitter } from './emitter.ts';
import { browserForeground } from './foreground.ts';
import type { Foreground } from './foreground.ts';
import { clearIntent, prefsIntent, readAllIntent, readIntent, unreadIntent } from './intent.ts';
import { systemClock, systemRandom } from './ports.ts';
import type { ClientClock, ClientRandom, WebSocketConstructor } from './ports.ts';
import { createReplica } from './replica.ts';
import type { Repair, Replica } from './replica.ts';
import { createSender } from './sender.ts';
import type { ClientStore, Kept } from './store.ts';
import { TidemarkError } from './tidemark-error.ts';
import type { GetToken } from './token-source.ts';
import type { State } from './transitions.ts';
import { createView } from './view.ts';
import type { Conversation } from './view.ts';

export interface ClientOptions {
  /** Of the server: `https://…`, or the full address of the WebSocket. */
  url: string;
  getToken: GetToken;
  /** Stable for this installation; one device has one connection. Default: kept in the store, else new each time. */
  device?: string;
  /** Default: JSON. `msgpack.ts` has the compact one. */
  codec?: ClientCodec;
  store?: ClientStore;
  WebSocket?: WebSocketConstructor;
  foreground?: Foreground;
  clock?: ClientClock;
  random?: ClientRandom;
}

export interface ClientEvents {
  state: { state: State; previous: State; stop: Stop | null };
  /** A conversation looks different: `get(conv)`. */
  change: { conv: string };
  /** Something on show, or the state, is different. */
  update: undefined;
  /** The server has answered where this device stands; `reason` says why a snapshot was needed. */
  synced: { mode: 'noop' | 'delta' | 'snapshot'; reason: string | undefined };
  repair: Repair;
  /** The server has carried out a command. */
  confirmed: Answered;
  /** The server will not carry out a command; what it showed in advance is taken back. */
  refused: { command: Command; code: string; message: string };
  tokenrefresh: { expiresAtMs: number };
  error: { error: TidemarkError };
}

/** A browser tells of one return in several events. */
const LOOK_AGAIN_MS = 1_000;
const DEVICE_CHARACTERS = 16;

export class TidemarkClient {
  readonly #options: ClientOptions;
  readonly #clock: ClientClock;
  readonly #random: ClientRandom;
  readonly #events = createEmitter<ClientEvents>();
  readonly #queue = createCommandQueue();
  readonly #view = createView();
  readonly #replica: Replica;
  readonly #connection: Connection;
  readonly #sender: ReturnType<typeof createSender>;
  readonly #stopListening: () => void;
  #device: string;
  #user: string | null = null;
  #epoch: string | null = null;
  /** Until the store has been read, nothing is sent. */
  #loading: Promise<void> | null = null;
  #wanted = false;
  #lookedAt = -Infinity;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
    this.#device = options.device ?? randomName(this.#random);
    this.#replica = createReplica(this.#clock, {
      send: (frame) => this.#connection.send(frame),
      repairing: (repair) => this.#events.emit('repair', repair),
    });
    this.#connection = createConnection(
      {
        url: socketUrl(options.url),
        codec: options.codec ?? clientJsonCodec,
        getToken: options.getToken,
        WebSocket: options.WebSocket ?? globalThis.WebSocket,
        clock: this.#clock,
        random: this.#random,
      },
      {
        hello: () => ({ device: this.#device, ...this.#replica.hello() }),
        frame: (frame) => this.#receive(frame),
        lost: () => this.#lost(),
        probe: () => this.#connection.apply(this.#replica.probe()),
        changed: (state, previous) => this.#stateChanged(state, previous),
        tokenRenewed: (expiresAtMs) => this.#events.emit('tokenrefresh', { expiresAtMs }),
        fault: (error) => this.#events.emit('error', { error }),
      },
    );
    this.#sender = createSender(this.#queue, this.#clock, this.#connection);
    if (options.store !== undefined) this.#loading = this.#load(options.store);
    this.#stopListening = (options.foreground ?? browserForeground)({
      foreground: () => this.sync(),
      online: () => this.#connection.networkBack(),
      offline: () => this.#connection.networkLost(),
    });
  }

  // ------------------------------------------------------------------ connection

  get state(): State {
    return this.#connection.state();
  }

  /** Why the client does not come back by itself; null unless `state` is `stopped`. */
  get stopped(): Stop | null {
    return this.#connection.stop();
  }

  /** Known from the first welcome on, or from the store. */
  get user(): string | null {
    return this.#user;
  }

  /** Idempotent. After a stop that is `retryable` it starts afresh, with a new token. */
  connect(): void {
    const { stopped: stop } = this;
    if (stop !== null && !stop.retryable) throw new TidemarkError('stopped', `stopped for good: ${stop.reason}`);
    this.#wanted = true;
    if (this.#loading === null) this.#connection.connect();
    else void this.#loading.then(() => this.#wanted && this.#connection.connect());
  }

  /** What was done is sent first; what is not confirmed by then stays for the next connection. */
  disconnect(): void {
    this.#wanted = false;
    this.#sender.flush(false);
    this.#connection.disconnect();
  }

  /** Ends the client for good. `forget`: a log-out, nothing of the user stays in the store. */
  async close(options: { forget?: boolean } = {}): Promise<void> {
    this.#wanted = false;
    this.#sender.flush(false);
    this.#stopListening();
    this.#connection.close();
    if (options.forget === true) this.#forget();
    await this.#options.store?.settled();
    this.#events.clear();
  }

  /**
   * Asks the server where this device stands, or comes back sooner; for apps whose return to the foreground no browser
   * tells. `force`: although it was done a moment ago.
   */
  sync(options: { force?: boolean } = {}): void {
    const now = this.#clock.nowMs();
    if (options.force !== true && Math.abs(now - this.#lookedAt) < LOOK_AGAIN_MS) return;
    this.#lookedAt = now;
    this.#connection.probe();
  }

  // ------------------------------------------------------------------ numbers

  /** The same object until it changes; undefined when the conversation is not there (any more). */
  get(conv: string): Conversation | undefined {
    return this.#view.get(conv);
  }

  /** Listed conversations; the same array until one of them changes. */
  list(): readonly Conversation[] {
    return this.#view.list();
  }

  total(): number {
    return this.#view.totals().total;
  }

  /** Muted conversations add only their mentions (CN3). */
  badge(): number {
    return this.#view.totals().badge;
  }

  mentions(): number {
    return this.#view.totals().mentions;
  }

  /** Whether a message is unread, given that it counts: countable, not recalled, not one's own. */
  isUnread(conv: string, seq: number): boolean {
    const held = this.#view.get(conv);
    return held !== undefined && seq > held.floorSeq;
  }

  /** Commands that the server has not confirmed. */
  pending(): readonly Command[] {
    return this.#queue.commands();
  }

  // ------------------------------------------------------------------ what a user does

  /** Read up to `upTo`; without it, up to the newest message that this device knows of (CN8: capped, up to the end). */
  markRead(conv: string, options: { upTo?: number } = {}): void {
    this.#give(readIntent(conv, this.#view.row(conv), options.upTo));
  }

  /** Unread again from `fromSeq` on; without it, only the flag (AK7). */
  markUnread(conv: string, options: { fromSeq?: number } = {}): void {
    this.#give(unreadIntent(conv, this.#view.row(conv), options.fromSeq));
  }

  /** Everything that is shown as unread now; what comes meanwhile stays (AK8). */
  markAllRead(): void {
    this.#give(readAllIntent(this.#replica.shown(), this.#view.rows()));
  }

  mute(conv: string, muted = true): void {
    this.#give(prefsIntent(conv, this.#view.row(conv), { muted }));
  }

  /** Out of the list until the next message (LC4). */
  hide(conv: string, hidden = true): void {
    this.#give(prefsIntent(conv, this.#view.row(conv), { hidden }));
  }

  /** Deletes the conversation up to `upTo`; without it, up to the newest message that this device knows of (LC3). */
  clear(conv: string, options: { upTo?: number } = {}): void {
    this.#give(clearIntent(conv, this.#view.row(conv), options.upTo));
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
    const { signal } = options;
    signal?.throwIfAborted();
    if (reached()) return undefined;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stopWaiting = this.#events.on('update', () => {
      if (reached()) resolve();
      else if (this.stopped !== null) reject(new TidemarkError('stopped', `stopped: ${this.stopped.reason}`));
    });
    const abort = () => reject(signal?.reason as Error);
    signal?.addEventListener('abort', abort);
    return promise.finally(() => {
      stopWaiting();
      signal?.removeEventListener('abort', abort);
    });
  }

  // ------------------------------------------------------------------ frames

  #receive(frame: ServerFrame): void {
    if (frame.t === 'welcome' && this.#user !== frame.user) this.#becomes(frame.user);
    if (frame.t === 'welcome' || frame.t === 'synced') {
      this.#events.emit('synced', { mode: frame.mode, reason: frame.reason });
    }
    if (frame.t === 'error') this.#refused(frame);
    if (frame.t === 'hb') this.#queue.beat();
    const meaning = this.#replica.receive(frame);
    const answers = frame.t === 'acked' ? this.#queue.answered(frame) : [];
    this.#refresh();
    for (const answer of answers) this.#events.emit('confirmed', answer);
    this.#connection.apply(meaning);
    this.#sender.flush(true);
  }

  /** The token is another user's: nothing of the former one may be shown or sent. */
  #becomes(user: string): void {
    if (this.#user !== null) this.#forget();
    this.#user = user;
  }

  #refused(frame: ErrorFrame): void {
    const { id, code, message } = frame;
    const retryMs = this.#sender.heldBack(frame);
    if (retryMs !== null) {
      if (id === undefined) this.#replica.postponed(retryMs);
      else this.#queue.unsend(id);
    } else if (id === undefined) this.#fault('protocol', `${code}: ${message}`);
    else for (const command of this.#queue.refused(id, code)) this.#events.emit('refused', { command, code, message });
  }

  #lost(): void {
    this.#queue.unsend();
    this.#replica.lost();
    this.#sender.stop();
  }

  // ------------------------------------------------------------------ commands

  #give(command: Command | null): void {
    if (this.stopped?.retryable === false) throw new TidemarkError('stopped', 'the client is closed');
    if (command === null) return;
    this.#queue.add(command);
    this.#refresh();
    this.#sender.soon();
  }

  // ------------------------------------------------------------------ showing and keeping

  #refresh(): void {
    const shown = this.#replica.shown();
    // A new epoch was read from truth, where everything confirmed is.
    this.#queue.settle(shown.epoch === this.#epoch ? shown.syncVersion : Infinity);
    this.#epoch = shown.epoch;
    const changed = this.#view.update(shown, this.#queue.byConv());
    for (const conv of changed) this.#events.emit('change', { conv });
    if (changed.length > 0) this.#events.emit('update', undefined);
    this.#options.store?.save(this.#kept());
  }

  #stateChanged(state: State, previous: State): void {
    this.#events.emit('state', { state, previous, stop: this.stopped });
    this.#events.emit('update', undefined);
  }

  #fault(code: 'protocol' | 'store', message: string, cause?: unknown): void {
    this.#events.emit('error', { error: new TidemarkError(code, message, undefined, cause) });
  }

  async #load(store: ClientStore): Promise<void> {
    const kept = await store.load().catch((error: unknown) => this.#fault('store', 'the store cannot be read', error));
    this.#loading = null;
    if (!kept) return;
    this.#device = this.#options.device ?? kept.device;
    this.#user = kept.user;
    if (kept.epoch !== null) this.#replica.restore({ ...kept, epoch: kept.epoch, rows: kept.rows.values() });
    const given = this.#queue.commands();
    this.#queue.clear();
    for (const command of [...kept.commands, ...given]) this.#queue.add(command);
    this.#refresh();
  }

  #kept(): Kept {
    const { epoch, syncVersion, rows } = this.#replica.shown();
    return { device: this.#device, user: this.#user, epoch, syncVersion, rows, commands: this.#queue.commands() };
  }

  #forget(): void {
    this.#queue.clear();
    this.#replica.reset();
    this.#refresh();
    this.#options.store?.clear();
  }
}

function randomName(random: ClientRandom): string {
  const character = () => Math.floor(random() * 36).toString(36);
  return Array.from({ length: DEVICE_CHARACTERS }, character).join('');
}

/** The address as the WebSocket wants it; a bare host means the standard path. */
function socketUrl(given: string): string {
  if (!URL.canParse(given, globalThis.location?.href)) {
    throw new TidemarkError('invalid_argument', 'url is not an address', 'url');
  }
  const url = new URL(given, globalThis.location?.href);
  url.protocol = url.protocol.replace(/^http/, 'ws');
  if (url.pathname === '/') url.pathname = '/v1/ws';
  return url.href;
}
