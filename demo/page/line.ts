// The network of one device, with a hand on the plug: sockets can be cut, the device can be taken off the network, and a frame
// can be sent behind the client's back.
import { browserForeground } from '../../client/foreground.ts';
import type { Foreground, ForegroundHandler, WebSocketConstructor, WebSocketLike } from '../../client/index.ts';
import type { ClientCodec } from '../../client/json-codec.ts';
import type { Acked } from '../../protocol/server-frames.ts';
import type { AckItem } from '../../protocol/client-frames.ts';

export interface Line {
  readonly WebSocket: WebSocketConstructor;
  readonly foreground: Foreground;
  /** What came in since the page was opened. */
  readonly received: { readonly frames: number; readonly bytes: number };
  readonly isUp: boolean;
  /** Cuts the socket under the client. */
  cut(): void;
  takeDown(): void;
  bringUp(): void;
  /** Sends an ack that the client knows nothing of; answers what the server says to it. Rejects when the socket is away. */
  ackBehindItsBack(item: AckItem): Promise<Acked>;
}

/** A browser lets a page close with 1000 or 3000 to 4999; this one means nothing to the client. */
const CUT = 3999;
/** Far from the ids that the client counts up. */
const FIRST_ID = 2 ** 40;
/** What a socket says that never got through. */
const NO_CONNECTION = { code: 1006, reason: '' };

export function createLine(codec: ClientCodec): Line {
  let socket: WebSocket | null = null;
  let handler: ForegroundHandler | null = null;
  let isUp = true;
  let nextId = FIRST_ID;
  const received = { frames: 0, bytes: 0 };
  const waiting = new Map<number, PromiseWithResolvers<Acked>>();

  function dial(url: string, protocols: string[]): WebSocketLike {
    if (!isUp) return deadSocket();
    const dialled = new WebSocket(url, protocols);
    dialled.addEventListener('message', ({ data }: MessageEvent<string | ArrayBuffer>) => {
      received.frames++;
      received.bytes += typeof data === 'string' ? data.length : data.byteLength;
      listen(data);
    });
    dialled.addEventListener('close', () => {
      for (const { reject } of waiting.values()) reject(new Error('the socket was lost'));
      waiting.clear();
    });
    socket = dialled;
    return dialled;
  }

  function listen(data: string | ArrayBuffer): void {
    if (waiting.size === 0) return;
    const decoded = codec.decodeServer(typeof data === 'string' ? data : new Uint8Array(data));
    if (!decoded.ok || decoded.frame.t !== 'acked') return;
    waiting.get(decoded.frame.id)?.resolve(decoded.frame);
    waiting.delete(decoded.frame.id);
  }

  return {
    // Called with `new`, a function may answer another object.
    WebSocket: function (url: string, protocols: string[]) {
      return dial(url, protocols);
    } as unknown as WebSocketConstructor,
    received,
    get isUp() {
      return isUp;
    },
    foreground(given) {
      handler = {
        foreground: () => isUp && given.foreground(),
        leaving: () => given.leaving(),
        online: () => isUp && given.online(),
        offline: () => given.offline(),
      };
      return browserForeground(handler);
    },
    cut: () => socket?.close(CUT),
    takeDown() {
      isUp = false;
      handler?.offline();
      socket?.close(CUT);
    },
    bringUp() {
      isUp = true;
      handler?.online();
    },
    async ackBehindItsBack(item) {
      if (socket?.readyState !== WebSocket.OPEN) throw new Error('there is no socket');
      const id = nextId++;
      const answer = Promise.withResolvers<Acked>();
      waiting.set(id, answer);
      socket.send(codec.encode({ t: 'ack', id, items: [item] }) as string | Uint8Array<ArrayBuffer>);
      return answer.promise;
    },
  };
}

function deadSocket(): WebSocketLike {
  const dead: WebSocketLike = {
    binaryType: 'arraybuffer',
    onopen: null,
    onmessage: null,
    onclose: null,
    onerror: null,
    send: () => {},
    close: () => {},
  };
  setTimeout(() => dead.onclose?.(NO_CONNECTION as never));
  return dead;
}
