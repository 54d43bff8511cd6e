// Sockets without a network: the client's end is a WebSocket, the server's end a session of the ProtocolServer, and between
// them lies a line that can lose, double, swap and falsify what the server says, and break.
import type { ClientClock, WebSocketConstructor, WebSocketLike } from '../../client/index.ts';
import { jsonCodec } from '../../protocol/codec-json.ts';
import type { Codec } from '../../protocol/codec.ts';
import type { ServerFrame } from '../../protocol/server-frames.ts';
import type { ProtocolServer } from './protocol-server.ts';
import type { ProtocolSession } from './protocol-session.ts';

export type Fault = 'none' | 'drop' | 'duplicate' | 'swap' | 'kill' | 'lie';

const LATENCY_MS = 5;

export class VirtualNetwork {
  readonly clock: ClientClock;
  readonly server: ProtocolServer;
  readonly codec: Codec;
  readonly lines = new Set<Line>();
  /** Sockets opened so far. */
  opened = 0;
  /** No connection gets through. An open one that loses anything delivers nothing more, and nobody hears of it. */
  down = false;
  /** What happens to a frame of the server. */
  fault: (frame: ServerFrame) => Fault = () => 'none';
  /** What `lie` makes of a frame. */
  falsify: (frame: ServerFrame) => ServerFrame = (frame) => frame;

  constructor(clock: ClientClock, server: ProtocolServer, codec: Codec = jsonCodec) {
    this.clock = clock;
    this.server = server;
    this.codec = codec;
  }

  /** For the option `WebSocket` of a client. */
  get WebSocket(): WebSocketConstructor {
    const network = this as VirtualNetwork;
    return class extends VirtualSocket {
      constructor() {
        super(network);
      }
    };
  }

  /** Every connection breaks, both ends hear of it (1006). */
  killAll(): void {
    for (const line of this.lines) line.kill();
  }
}

/** One connection. */
class Line {
  readonly #network: VirtualNetwork;
  readonly #socket: VirtualSocket;
  readonly #session: ProtocolSession;
  #held: ServerFrame | null = null;
  #broken = false;
  #silent = false;

  constructor(network: VirtualNetwork, socket: VirtualSocket) {
    this.#network = network;
    this.#socket = socket;
    this.#session = network.server.accept({
      send: (frame) => this.#pass(frame),
      close: (code) => this.#later(() => this.#end(code)),
    });
    network.lines.add(this);
  }

  fromClient(data: string | Uint8Array): void {
    this.#later(() => {
      const decoded = this.#network.codec.decodeClient(data);
      if (!decoded.ok) throw new Error(`the client sent what no server takes: ${decoded.message}`);
      this.#session.receive(decoded.frame);
    });
  }

  /** The client closed its end; what it sent before is carried out (DT6). */
  leave(): void {
    this.#later(() => this.#end(1005));
  }

  kill(): void {
    this.#end(1006);
  }

  #pass(frame: ServerFrame): void {
    const fault = this.#network.fault(frame);
    if (fault === 'kill') return this.kill();
    if (fault === 'drop') return undefined;
    if (fault === 'swap' && this.#held === null) {
      this.#held = frame;
      return undefined;
    }
    this.#deliver(fault === 'lie' ? this.#network.falsify(frame) : frame);
    if (fault === 'duplicate') this.#deliver(frame);
    if (this.#held !== null) this.#deliver(this.#held);
    this.#held = null;
    return undefined;
  }

  #deliver(frame: ServerFrame): void {
    const data = this.#network.codec.encode(frame);
    const message = typeof data === 'string' ? data : data.slice().buffer;
    this.#later(() => this.#socket.message(message));
  }

  #end(code: number): void {
    if (this.#broken) return;
    this.#broken = true;
    this.#network.lines.delete(this);
    this.#session.lost();
    this.#socket.ended(code);
  }

  #later(run: () => void): void {
    this.#network.clock.after(LATENCY_MS, () => {
      this.#silent ||= this.#network.down;
      if (!this.#broken && !this.#silent) run();
    });
  }
}

type Listener<E> = ((event: E) => unknown) | null;

class VirtualSocket implements WebSocketLike {
  binaryType = '';
  onopen: Listener<never> = null;
  onmessage: Listener<never> = null;
  onclose: Listener<never> = null;
  onerror: Listener<never> = null;
  #line: Line | null = null;
  #closed = false;

  constructor(network: VirtualNetwork) {
    network.opened++;
    network.clock.after(LATENCY_MS, () => {
      if (this.#closed) return;
      if (network.down) return;
      this.#line = new Line(network, this);
      (this.onopen as Listener<object> | null)?.({});
    });
  }

  send(data: string | Uint8Array): void {
    if (this.#line === null) throw new Error('the socket is not open');
    if (!this.#closed) this.#line.fromClient(typeof data === 'string' ? data : data.slice());
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#line?.leave();
  }

  message(data: string | ArrayBuffer): void {
    if (!this.#closed) (this.onmessage as Listener<{ data: unknown }>)?.({ data });
  }

  ended(code: number): void {
    this.#closed = true;
    (this.onclose as Listener<{ code: number; reason: string }>)?.({ code, reason: '' });
  }
}
