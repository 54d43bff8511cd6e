// One WebSocket from opening to its end. After the end nothing of it is heard any more, whatever the network still delivers.
import type { ClientFrame } from '../protocol/client-frames.ts';
import type { ServerFrame } from '../protocol/server-frames.ts';
import type { SocketEnd } from './backoff.ts';
import type { ClientCodec } from './json-codec.ts';
import type { WebSocketConstructor } from './ports.ts';

export interface SocketHandler {
  opened(): void;
  frame(frame: ServerFrame): void;
  /** A frame of a newer server, or a broken one: it is left out, and the chain of versions tells that something is missing. */
  unreadable(message: string): void;
  /** Once, and not after `end()`. */
  ended(end: SocketEnd): void;
}

export interface Socket {
  send(frame: ClientFrame): void;
  /** Ends it from this side; what comes is not heard. `dead`: without waiting for the peer, else what was sent is delivered. */
  end(dead: boolean): void;
}

/** 1000 is the only code below 3000 that a browser lets an app send. */
const NORMAL_CLOSE = 1000;
const PROTOCOL_ERROR = 4400;
const NO_CLOSE_FRAME = 1006;

export function openSocket(
  WebSocket: WebSocketConstructor,
  url: string,
  codec: ClientCodec,
  handler: SocketHandler,
): Socket {
  const ws = new WebSocket(url, [codec.subprotocol]);
  let over = false;

  function finish(end: SocketEnd, closeCode?: number): void {
    if (over) return;
    over = true;
    if (closeCode !== undefined) ws.close(closeCode);
    handler.ended(end);
  }

  function receive(data: unknown): void {
    const decoded = codec.decodeServer(typeof data === 'string' ? data : new Uint8Array(data as ArrayBuffer));
    if (!decoded.ok) {
      handler.unreadable(decoded.message);
      // This client's verdict, not the server's: it comes back with back-off.
      if (decoded.fatal) finish({ code: NO_CLOSE_FRAME, reason: decoded.message }, PROTOCOL_ERROR);
    } else if (decoded.frame.t === 'bye') {
      // Nothing follows a bye, and its close frame may get lost.
      const { code, reason, retry_ms: retryMs } = decoded.frame;
      finish({ code, reason, retryMs }, NORMAL_CLOSE);
    } else handler.frame(decoded.frame);
  }

  ws.binaryType = 'arraybuffer';
  ws.onopen = () => over || handler.opened();
  ws.onmessage = ({ data }: { data: unknown }) => over || receive(data);
  ws.onclose = ({ code, reason }: { code?: number; reason?: string }) =>
    finish({ code: code ?? NO_CLOSE_FRAME, reason: reason ?? '' });
  // A close event always follows, and it alone carries a code.
  ws.onerror = () => undefined;

  return {
    // The codec gives out bytes of its own, never a view of shared memory.
    send: (frame) => ws.send(codec.encode(frame) as string | Uint8Array<ArrayBuffer>),
    end(dead) {
      over = true;
      if (dead && ws.terminate) ws.terminate();
      else ws.close(NORMAL_CLOSE);
    },
  };
}
