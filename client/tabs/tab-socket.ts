// The WebSocket of a tab: the real one where the tab leads, else a line to the tab that does.
import type { ClientFrame } from '../../protocol/client-frames.ts';
import type { ClientCodec } from '../json-codec.ts';
import type { ClientClock, ClientRandom, WebSocketConstructor, WebSocketLike } from '../ports.ts';
import type { TabMessage, ToSocket } from './tab-message.ts';
import type { TabServer } from './tab-server.ts';

export interface TabSocketWorld {
  WebSocket: WebSocketConstructor;
  /** Of this tab, where it shares no socket. */
  device: string;
  /** Of the real socket. To the client this one always speaks JSON where it is not the real one. */
  codec: ClientCodec;
  clock: ClientClock;
  random: ClientRandom;
  /** This tab has a new socket. */
  made(socket: TabSocket): void;
  /** Whether this tab leads. */
  join(): Promise<boolean>;
  post(message: TabMessage): void;
  /** Nobody answers. */
  noLeader(): void;
  /** Hears what comes from the real server, too. */
  server: Pick<TabServer, 'passOn' | 'heard'>;
  /** `byItself`: not by this client. */
  ended(socket: TabSocket, code: number, reason: string, byItself: boolean): void;
}

type Listener<E> = ((event: E) => unknown) | null;

/** A tab that leads answers at once; one that is frozen does not. */
const ANSWER_MS_MAX = 3_000;
/** The server has a newer socket of this device: that of another tab. */
const REPLACED = 4404;
/** Comes back at once, to where the socket is now. */
export const MOVED = 4001;

export class TabSocket implements WebSocketLike {
  binaryType = '';
  onopen: Listener<never> = null;
  onmessage: Listener<never> = null;
  onclose: Listener<never> = null;
  onerror: Listener<never> = null;
  readonly id: string;
  readonly #world: TabSocketWorld;
  readonly #url: string;
  readonly #protocols: string[];
  #real: WebSocketLike | null = null;
  #isOver = false;
  #isGuest = false;
  #isAlone = false;
  #saidBye = false;
  #cancelAnswer = () => {};

  constructor(world: TabSocketWorld, url: string, protocols: string[]) {
    this.id = `s${world.random().toString(36).slice(2)}`;
    world.made(this);
    this.#world = world;
    this.#url = url;
    this.#protocols = protocols;
    void world.join().then((leads) => {
      if (this.#isOver) return;
      if (leads) this.#dial();
      else this.#ask();
    });
  }

  get isGuest(): boolean {
    return this.#isGuest;
  }

  /** `data`: a frame as JSON, from the client's codec. */
  send(data: string | Uint8Array<ArrayBuffer>): void {
    this.transmit(JSON.parse(data as string) as ClientFrame);
  }

  transmit(frame: ClientFrame): void {
    const { codec, device } = this.#world;
    if (this.#isGuest) this.#world.post({ from: this.id, say: frame });
    else {
      const own = this.#isAlone && frame.t === 'hello' ? { ...frame, device } : frame;
      this.#real?.send(codec.encode(own) as string | Uint8Array<ArrayBuffer>);
    }
  }

  close(): void {
    this.#finish(1000, '', false);
  }

  /** Ends it for the client, which comes back as the code says. */
  end(code: number, reason: string): void {
    if (!this.#finish(code, reason, true)) return;
    (this.onclose as Listener<{ code: number; reason: string }>)?.({ code, reason });
  }

  /** From the tab that leads. */
  told(say: ToSocket['say']): void {
    if (this.#isOver || !this.#isGuest) return;
    if (say === 'opened') {
      this.#cancelAnswer();
      (this.onopen as Listener<object>)?.({});
    } else if (say === 'alone') {
      this.#isGuest = false;
      this.#isAlone = true;
      this.#dial();
    } else if (say.t === 'end') this.end(say.code, say.reason);
    else (this.onmessage as Listener<{ data: unknown }>)?.({ data: JSON.stringify(say) });
  }

  #ask(): void {
    this.#isGuest = true;
    this.#cancelAnswer = this.#world.clock.after(ANSWER_MS_MAX, () => this.#world.noLeader());
    this.#world.post({ from: this.id, say: 'open' });
  }

  #dial(): void {
    let real: WebSocketLike;
    try {
      real = new this.#world.WebSocket(this.#url, this.#protocols);
    } catch {
      this.end(1006, '');
      return;
    }
    this.#real = real;
    real.binaryType = 'arraybuffer';
    real.onopen = () => this.#isOver || (this.onopen as Listener<object>)?.({});
    real.onmessage = ({ data }: { data: unknown }) => this.#isOver || this.#receive(data);
    real.onclose = ({ code, reason }: { code: number; reason: string }) => this.#isOver || this.end(code, reason);
    real.onerror = () => {};
  }

  #receive(data: unknown): void {
    const decoded = this.#world.codec.decodeServer(
      typeof data === 'string' ? data : new Uint8Array(data as ArrayBuffer),
    );
    const frame = decoded.ok ? decoded.frame : null;
    if (frame?.t === 'bye' && frame.code === REPLACED) {
      this.end(MOVED, frame.reason);
      return;
    }
    if (frame !== null && this.#world.server.passOn(frame)) return;
    if (frame?.t === 'bye') {
      // The client closes the socket upon it; that it ended is the server's doing.
      this.#saidBye = true;
      this.#world.ended(this, frame.code, frame.reason, true);
    }
    (this.onmessage as Listener<{ data: unknown }>)?.({ data });
    if (frame !== null && !this.#isOver) this.#world.server.heard(frame);
  }

  #finish(code: number, reason: string, byItself: boolean): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#cancelAnswer();
    if (this.#isGuest) this.#world.post({ from: this.id, say: 'close' });
    this.#real?.close(1000);
    if (!this.#saidBye) this.#world.ended(this, code, reason, byItself);
    return true;
  }
}
