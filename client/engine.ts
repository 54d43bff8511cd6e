// The parts of the client and how they work together: a frame goes to the replica and the queue, what they say goes to the
// view, what is new there goes to the app and into the store, and what waits in the queue goes out.
import type { ErrorFrame, ServerFrame } from '../protocol/server-frames.ts';
import type { Command } from './command.ts';
import { createCommandQueue } from './command-queue.ts';
import type { Answered } from './command-queue.ts';
import { CLOSED_BY_APP, createConnection } from './connection.ts';
import type { Connection, Stop } from './connection.ts';
import type { Emitter } from './emitter.ts';
import { browserForeground } from './foreground.ts';
import type { Foreground } from './foreground.ts';
import { clientJsonCodec } from './json-codec.ts';
import type { ClientCodec } from './json-codec.ts';
import { systemClock, systemRandom } from './ports.ts';
import type { ClientClock, ClientRandom, WebSocketConstructor } from './ports.ts';
import { createReplica } from './replica.ts';
import type { Repair, Replica } from './replica.ts';
import { createSender } from './sender.ts';
import type { Sender } from './sender.ts';
import type { ClientStore } from './store.ts';
import { TidemarkError } from './tidemark-error.ts';
import type { GetToken } from './token-source.ts';
import type { State } from './transitions.ts';
import { createView } from './view.ts';

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
  /** Something on show, the state, or what is pending is different. */
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

/** A look, or a welcome, so long ago still says where we stand: a browser tells of one return in several events, an app in more. */
const LOOK_AGAIN_MS = 5_000;

export class Engine {
  readonly view = createView();
  readonly queue = createCommandQueue();
  readonly replica: Replica;
  readonly connection: Connection;
  readonly #options: ClientOptions;
  readonly #emit: Emitter<ClientEvents>['emit'];
  readonly #sender: Sender;
  readonly #clock: ClientClock;
  readonly #stopListening: () => void;
  #device: string;
  /** Known from the first welcome on, or from the store. */
  user: string | null = null;
  #epoch: string | null = null;
  /** Until the store has been read, nothing is sent. */
  #loading: Promise<void> | null = null;
  /** Number of commands when the app was last told. */
  #pending = 0;
  #wanted = false;
  #lookedAt = -Infinity;

  constructor(options: ClientOptions, emit: Emitter<ClientEvents>['emit']) {
    const { clock = systemClock, random = systemRandom, codec = clientJsonCodec, store, getToken } = options;
    const { WebSocket = globalThis.WebSocket, foreground = browserForeground } = options;
    this.#options = options;
    this.#emit = emit;
    this.#clock = clock;
    this.#device = options.device ?? `d${random().toString(36).slice(2)}`;
    this.replica = createReplica(clock, {
      send: (frame) => this.connection.send(frame),
      repairing: (repair) => emit('repair', repair),
    });
    this.connection = createConnection(
      { url: socketUrl(options.url), codec, getToken, WebSocket, clock, random },
      {
        hello: () => ({ device: this.#device, ...this.replica.hello() }),
        frame: (frame) => this.#receive(frame),
        probe: () => this.connection.apply(this.replica.probe()),
        lost: () => this.#lost(),
        changed: (state, previous) => {
          emit('state', { state, previous, stop: this.connection.stop() });
          emit('update', undefined);
        },
        fault: (error) => emit('error', { error }),
      },
    );
    this.#sender = createSender(this.queue, clock, this.connection);
    store?.adopts?.((commands) => this.#adopt(commands));
    if (store !== undefined) this.#loading = this.#load(store);
    this.#stopListening = foreground({
      foreground: () => this.sync(false),
      leaving: () => this.#sender.flush(false),
      online: () => this.connection.online(),
      offline: () => this.connection.offline(),
    });
  }

  connect(): void {
    const stop = this.connection.stop();
    if (stop?.retryable === false) throw new TidemarkError('stopped', stop.reason);
    this.#wanted = true;
    if (this.#loading === null) this.connection.connect();
    else void this.#loading.then(() => this.#wanted && this.connection.connect());
  }

  disconnect(): void {
    this.#wanted = false;
    this.#sender.flush(false);
    this.connection.disconnect();
  }

  async close(andForget: boolean): Promise<void> {
    this.#wanted = false;
    this.#sender.flush(false);
    this.#stopListening();
    this.connection.close();
    this.#sender.stop();
    if (andForget) this.#forget();
    await this.#options.store?.settled();
  }

  sync(force: boolean): void {
    const now = this.#clock.nowMs();
    if (!force && Math.abs(now - this.#lookedAt) < LOOK_AGAIN_MS) return;
    this.#lookedAt = now;
    this.connection.probe();
  }

  /** Null: there is nothing to do. */
  give(command: Command | null): void {
    const stop = this.connection.stop();
    if (stop === CLOSED_BY_APP) throw new TidemarkError('stopped', stop.reason);
    if (command === null) return;
    this.queue.add(command);
    this.#refresh();
    this.#sender.soon();
  }

  #receive(frame: ServerFrame): void {
    if (frame.t === 'welcome') {
      this.#lookedAt = this.#clock.nowMs();
      this.#isFor(frame.user);
    }
    if (frame.t === 'welcome' || frame.t === 'synced') {
      this.#emit('synced', { mode: frame.mode, reason: frame.reason });
    }
    if (frame.t === 'auth_ok') this.#emit('tokenrefresh', { expiresAtMs: frame.expires_at });
    if (frame.t === 'error') this.#refused(frame);
    if (frame.t === 'hb') this.queue.beat();
    const meaning = this.replica.receive(frame);
    const { rows } = this.replica.shown();
    const answers = frame.t === 'acked' ? this.queue.answered(frame, rows) : [];
    const isVerified = meaning === 'verified';
    if (frame.t === 'snapshot' && isVerified) this.queue.assure(rows);
    this.#refresh();
    for (const answer of answers) this.#emit('confirmed', answer);
    this.connection.apply(meaning);
    if (isVerified && this.queue.unsure()) this.connection.apply(this.replica.probe({ cursor: null }));
    this.#sender.flush(true);
  }

  /** Nothing of a former user may be shown or sent. */
  #isFor(user: string): void {
    if (this.user !== null && this.user !== user) this.#forget();
    this.user = user;
  }

  #refused(frame: ErrorFrame): void {
    const { id, code, message } = frame;
    const retryMs = this.#sender.postponed(frame);
    if (retryMs !== null) {
      if (id === undefined) this.replica.postponed(retryMs);
      else this.queue.unsend(id);
    } else if (id === undefined) this.#emit('error', { error: new TidemarkError('protocol', `${code}: ${message}`) });
    else for (const command of this.queue.refused(id, code)) this.#emit('refused', { command, code, message });
  }

  #lost(): void {
    this.#lookedAt = -Infinity;
    this.queue.unsend();
    this.replica.lost();
    this.#sender.stop();
  }

  #refresh(): void {
    const { epoch, syncVersion, rows } = this.replica.shown();
    // A new epoch was read from truth, where everything confirmed is.
    this.queue.settle(epoch === this.#epoch ? syncVersion : Infinity, rows);
    this.#epoch = epoch;
    const [device, user, commands] = [this.#device, this.user, this.queue.commands()];
    const changed = this.view.update(this.replica.shown(), this.queue.byConv());
    for (const conv of changed) this.#emit('change', { conv });
    if (changed.length > 0 || commands.length !== this.#pending) this.#emit('update', undefined);
    this.#pending = commands.length;
    this.#options.store?.save({ device, user, epoch, syncVersion, rows, commands });
  }

  async #load(store: ClientStore): Promise<void> {
    const kept = await store.load().catch((error: unknown) => {
      this.#emit('error', { error: new TidemarkError('store', 'not loaded', { cause: error }) });
    });
    this.#loading = null;
    if (!kept) return;
    this.#device = this.#options.device ?? kept.device;
    this.user = kept.user;
    if (kept.epoch !== null) this.replica.restore({ ...kept, epoch: kept.epoch, rows: kept.rows.values() });
    this.#adopt(kept.commands);
  }

  /** They were given before what is asked for here. */
  #adopt(commands: readonly Command[]): void {
    const given = this.queue.commands();
    this.queue.clear();
    for (const command of [...commands, ...given]) this.queue.add(command);
    this.#refresh();
    this.#sender.soon();
  }

  #forget(): void {
    this.queue.clear();
    this.replica.reset();
    this.#refresh();
    this.#options.store?.clear();
  }
}

/** The address as the WebSocket wants it; a bare host means the standard path. */
function socketUrl(given: string): string {
  const url = new URL(given, globalThis.location?.href);
  url.protocol = url.protocol.replace(/^http/, 'ws');
  if (!/^wss?:$/.test(url.protocol)) {
    throw new TidemarkError('invalid_argument', 'url must be http or ws', { field: 'url' });
  }
  if (url.pathname === '/') url.pathname = '/v1/ws';
  return url.href;
}
