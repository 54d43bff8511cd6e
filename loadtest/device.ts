/** One device of one user over a real socket: the client reducer, an ack queue, and nothing clever. */
import { WebSocket } from 'ws';
import { initialState, jsonCodec, reconnect, reduce, requestSync } from '../protocol/index.ts';
import type { AckedItem, Action, ClientFrame, ClientState, Codec, ServerFrame, SyncMode } from '../protocol/index.ts';
import { msgpackCodec } from '../protocol/codec-msgpack.ts';
import type { Target } from './target.ts';

export interface DeviceOptions {
  readonly target: Target;
  readonly user: string;
  readonly device: string;
  readonly binary: boolean;
  /** Where there are several gateways: devices of one place begin at the same one, and each goes to the next when it comes back. */
  readonly place: number;
  /** Every frame, as soon as it has been taken over. */
  readonly onFrame: (frame: ServerFrame) => void;
}

const RECONNECT_MS_MIN = 50;
const RECONNECT_MS_MAX = 400;
const ACK_ITEMS_MAX = 200;

interface PendingAck {
  seq: number;
  /** Resolved when the server has answered for this seq or a higher one. */
  readonly settled: Promise<void>;
  readonly settle: () => void;
}

export class Device {
  readonly user: string;
  readonly #options: DeviceOptions;
  readonly #codec: Codec;
  #state: ClientState = initialState();
  #socket: WebSocket | null = null;
  #wanted = false;
  #greeted = false;
  #greetedBy: SyncMode | null = null;
  #attempt = 0;
  /** Told by the server: when to come back. */
  #retryMs: number | null = null;
  #nextId = 1;
  /** Highest seq a conversation; kept until acked, over any number of sockets (AK4). */
  readonly #acks = new Map<string, PendingAck>();
  readonly #sent = new Map<number, { conv: string; seq: number }[]>();
  #flushing = false;
  #wake: (() => void)[] = [];
  /** `failed`: sockets that ended before they were greeted. */
  readonly counts = { pushes: 0, acks: 0, reconnects: 0, syncs: 0, failed: 0 };

  constructor(options: DeviceOptions) {
    this.#options = options;
    this.user = options.user;
    this.#codec = options.binary ? msgpackCodec : jsonCodec;
  }

  get state(): ClientState {
    return this.#state;
  }

  /** How the last hello was answered. */
  get greetedBy(): SyncMode | null {
    return this.#greetedBy;
  }

  get isConnected(): boolean {
    return this.#wanted;
  }

  /** At one whole version: nothing outstanding on this device. */
  get isSettled(): boolean {
    const { catchup, snapshot, sync } = this.#state;
    return this.#greeted && catchup === null && snapshot === null && sync === 'idle' && this.#acks.size === 0;
  }

  connect(): void {
    this.#wanted = true;
    this.#dial();
  }

  /** The link breaks without a word, and the device dials again after `comesBackAfterMs`. */
  cut(comesBackAfterMs: number): void {
    this.#retryMs = comesBackAfterMs;
    this.#socket?.terminate();
  }

  /** Answers when everything acked is confirmed and the socket is closed. */
  async disconnect(): Promise<void> {
    await this.acksSettled();
    this.#wanted = false;
    const socket = this.#socket;
    if (!socket) return;
    socket.close(1000);
    await this.#until(() => this.#socket === null);
  }

  /** Answers when the server has confirmed it. */
  ack(conv: string, seq: number): Promise<void> {
    const held = this.#acks.get(conv);
    if (held) {
      // A lower one says nothing new: only the maximum counts (AK4).
      held.seq = Math.max(held.seq, seq);
    } else {
      let settle = (): void => {};
      const settled = new Promise<void>((resolve) => (settle = resolve));
      this.#acks.set(conv, { seq, settled, settle });
    }
    this.counts.acks++;
    if (!this.#flushing) {
      this.#flushing = true;
      setImmediate(() => this.#flushAcks());
    }
    return (this.#acks.get(conv) as PendingAck).settled;
  }

  async acksSettled(): Promise<void> {
    while (this.#acks.size > 0) await Promise.all([...this.#acks.values()].map(({ settled }) => settled));
  }

  /** True as soon as `holds` does; looked at after every frame. False after `deadlineMs`. */
  async waitFor(holds: () => boolean, deadlineMs: number): Promise<boolean> {
    const end = Date.now() + deadlineMs;
    while (!holds()) {
      const leftMs = end - Date.now();
      if (leftMs <= 0) return false;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(leftMs, 250));
        this.#wake.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
    return true;
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!(await this.waitFor(holds, 60_000)));
  }

  #dial(): void {
    const { target, user, device, place } = this.#options;
    const socket = new WebSocket(target.socketUrl(place + this.#attempt), [this.#codec.subprotocol], {
      perMessageDeflate: false,
    });
    this.#socket = socket;
    this.#attempt++;
    socket.on('open', () => {
      const { state, hello } = reconnect(this.#state);
      this.#state = state;
      this.#send({ t: 'hello', token: target.tokenOf(user), device, attempt: this.#attempt, ...hello });
    });
    socket.on('message', (data: Buffer, isBinary) => this.#receive(isBinary ? data : data.toString()));
    // A broken link also closes, and the close is what is acted on.
    socket.on('error', () => {});
    socket.on('close', () => this.#closed());
  }

  #closed(): void {
    this.#socket = null;
    if (!this.#greeted) this.counts.failed++;
    this.#greeted = false;
    this.#sent.clear();
    this.#notify();
    if (!this.#wanted) return;
    this.counts.reconnects++;
    const waitMs = this.#retryMs ?? RECONNECT_MS_MIN + Math.random() * (RECONNECT_MS_MAX - RECONNECT_MS_MIN);
    this.#retryMs = null;
    setTimeout(() => {
      if (this.#wanted && !this.#socket) this.#dial();
    }, waitMs);
  }

  #send(frame: ClientFrame): void {
    this.#socket?.send(this.#codec.encode(frame));
  }

  #receive(data: string | Uint8Array): void {
    const decoded = this.#codec.decodeServer(data);
    if (!decoded.ok) throw new Error(`${this.user}: a frame that is none: ${decoded.message}`);
    const frame = decoded.frame;
    const { state, actions } = reduce(this.#state, frame);
    this.#state = state;
    this.#act(frame);
    for (const action of actions) this.#sync(action);
    this.#options.onFrame(frame);
    this.#notify();
  }

  #act(frame: ServerFrame): void {
    switch (frame.t) {
      case 'welcome':
        this.#greeted = true;
        this.#greetedBy = frame.mode;
        this.#flushAcks();
        break;
      case 'delta':
        this.counts.pushes++;
        break;
      case 'bye':
        this.#retryMs = frame.retry_ms ?? null;
        break;
      case 'acked':
        this.#acked(frame.id, frame.items);
        break;
      case 'error':
        // Refused for the moment: what is still in the queue goes out again.
        setTimeout(() => this.#flushAcks(), frame.retry_ms ?? RECONNECT_MS_MAX);
        break;
      default:
    }
  }

  #sync(action: Action): void {
    this.counts.syncs++;
    setTimeout(() => {
      if (!this.#greeted || this.#state.sync !== 'wanted') return;
      const { state, frame } = requestSync(this.#state);
      this.#state = state;
      this.#send(frame);
    }, action.delayMs);
  }

  #flushAcks(): void {
    this.#flushing = false;
    if (!this.#greeted) return;
    const items = [...this.#acks].map(([conv, { seq }]) => ({ conv, seq }));
    for (let i = 0; i < items.length; i += ACK_ITEMS_MAX) {
      const part = items.slice(i, i + ACK_ITEMS_MAX);
      const id = this.#nextId++;
      this.#sent.set(id, part);
      this.#send({ t: 'ack', id, items: part });
    }
  }

  #acked(id: number, answers: readonly AckedItem[]): void {
    const sent = this.#sent.get(id);
    this.#sent.delete(id);
    if (answers.length !== sent?.length) throw new Error(`${this.user}: acked ${id} does not answer its ack`);
    for (const { conv, seq } of sent) {
      const held = this.#acks.get(conv);
      if (!held || held.seq > seq) continue;
      this.#acks.delete(conv);
      held.settle();
    }
  }

  #notify(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}
