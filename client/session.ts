// One connection to the server, from the first packet to its end: hello, welcome, signs of life. After the end nothing of it
// is heard any more, whatever the network still delivers.
import type { ClientFrame } from '../protocol/client-frames.ts';
import type { ServerFrame } from '../protocol/server-frames.ts';
import type { ClientCodec } from './json-codec.ts';
import { createLiveness } from './liveness.ts';
import type { ClientClock, WebSocketConstructor } from './ports.ts';
import { TidemarkError } from './tidemark-error.ts';

export interface SessionOptions {
  url: string;
  codec: ClientCodec;
  WebSocket: WebSocketConstructor;
  clock: ClientClock;
}

/** How a socket ended: the close code, and what a `bye` before it said. */
export interface SocketEnd {
  code: number;
  reason: string;
  retryMs?: number | undefined;
}

export interface SessionHandler {
  hello(): ClientFrame;
  frame(frame: ServerFrame): void;
  /** Is the server still there, and are we where it is? Send a sync. */
  probe(): void;
  /** A frame that cannot be read is left out, and the chain of versions tells what is missing; one that is broken ends it. */
  fault(error: TidemarkError): void;
  /** Once, and not after `end()`. */
  ended(end: SocketEnd): void;
}

export interface Session {
  greeted(): boolean;
  /** Nothing is sent before the welcome. */
  send(frame: ClientFrame): void;
  /** Looks whether the server is there; if nothing comes at once, it is not. */
  probe(): void;
  /** Ends it from this side; what was sent is delivered. */
  end(): void;
}

/** From the first packet to `welcome`. */
const GREETING_MS_MAX = 10_000;
/** An answer to a probe has to begin within this time. */
const PROBE_MS_MAX = 2_000;
/** 1000 is the only code below 3000 that a browser lets an app send. */
const NORMAL_CLOSE = 1000;
export const NO_CLOSE_FRAME = 1006;

export function openSession({ url, codec, WebSocket, clock }: SessionOptions, handler: SessionHandler): Session {
  const ws = new WebSocket(url, [codec.subprotocol]);
  let greeted = false;
  let over = false;

  function end(): void {
    over = true;
    cancelGreeting();
    liveness.stop();
    ws.close(NORMAL_CLOSE);
  }

  /** Ends it from this side, and tells. */
  function giveUp(why: SocketEnd): void {
    end();
    handler.ended(why);
  }

  /** This client's verdict, not the server's: it comes back with back-off. */
  function broken(message: string, fatal: boolean): void {
    handler.fault(new TidemarkError('protocol', message));
    if (fatal) giveUp({ code: NO_CLOSE_FRAME, reason: message });
  }

  const silent = () => giveUp({ code: NO_CLOSE_FRAME, reason: 'silence' });

  const liveness = createLiveness(clock, { silent, asleep: probe });
  const cancelGreeting = clock.after(GREETING_MS_MAX, silent);

  // The codec gives out bytes of its own, never a view of shared memory.
  const send = (frame: ClientFrame) => ws.send(codec.encode(frame) as string | Uint8Array<ArrayBuffer>);

  function probe(): void {
    handler.probe();
    liveness.expect(PROBE_MS_MAX);
  }

  function receive(data: unknown): void {
    const decoded = codec.decodeServer(typeof data === 'string' ? data : new Uint8Array(data as ArrayBuffer));
    if (!decoded.ok) {
      broken(decoded.message, decoded.fatal);
      return;
    }
    const { frame } = decoded;
    liveness.heard();
    if (frame.t === 'bye') {
      // Nothing follows a bye, and its close frame may get lost.
      giveUp({ code: frame.code, reason: frame.reason, retryMs: frame.retry_ms });
      return;
    }
    if (frame.t === 'welcome') {
      greeted = true;
      cancelGreeting();
      liveness.start(frame.heartbeat_ms);
    }
    try {
      handler.frame(frame);
    } catch (cause) {
      broken(`${frame.t}: ${String(cause)}`, true);
    }
  }

  ws.binaryType = 'arraybuffer';
  ws.onopen = () => over || send(handler.hello());
  ws.onmessage = ({ data }: { data: unknown }) => over || receive(data);
  ws.onclose = ({ code, reason }: SocketEnd) => over || giveUp({ code, reason });
  // A close event always follows, and it alone carries a code.
  ws.onerror = () => {};

  return { greeted: () => greeted, send: (frame) => greeted && send(frame), probe, end };
}
