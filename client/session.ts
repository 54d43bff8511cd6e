// One connection to the server, from the first packet to its end: hello, welcome, signs of life.
import type { ClientFrame } from '../protocol/client-frames.ts';
import type { ServerFrame } from '../protocol/server-frames.ts';
import type { SocketEnd } from './backoff.ts';
import type { ClientCodec } from './json-codec.ts';
import { createLiveness } from './liveness.ts';
import type { ClientClock, WebSocketConstructor } from './ports.ts';
import { openSocket } from './socket.ts';

export interface SessionOptions {
  url: string;
  codec: ClientCodec;
  WebSocket: WebSocketConstructor;
  clock: ClientClock;
}

export interface SessionHandler {
  hello(): ClientFrame;
  frame(frame: ServerFrame): void;
  /** Is the server still there, and are we where it is? Send a sync. */
  probe(): void;
  fault(message: string): void;
  /** Once, and not after `end()`. `dead`: this side gave it up. */
  ended(end: SocketEnd, dead: boolean): void;
}

export interface Session {
  greeted(): boolean;
  /** Nothing is sent before the welcome. */
  send(frame: ClientFrame): void;
  /** Looks whether the server is there; if nothing comes at once, it is not. */
  probe(): void;
  /** `dead`: without waiting for the peer. */
  end(dead: boolean): void;
}

/** From the first packet to `welcome`. */
const GREETING_MS_MAX = 10_000;
/** An answer to a probe has to begin within this time. */
const PROBE_MS_MAX = 2_000;

const NOT_HEARD: SocketEnd = { code: 1006, reason: 'nothing was heard from the server in time' };

export function openSession({ url, codec, WebSocket, clock }: SessionOptions, handler: SessionHandler): Session {
  let greeted = false;
  const silent = () => {
    end(true);
    handler.ended(NOT_HEARD, true);
  };
  const liveness = createLiveness(clock, { silent, asleep: probe });
  const cancelGreeting = clock.after(GREETING_MS_MAX, silent);

  const socket = openSocket(WebSocket, url, codec, {
    opened: () => socket.send(handler.hello()),
    unreadable: (message) => handler.fault(message),
    frame(frame) {
      liveness.heard();
      if (frame.t === 'welcome') {
        greeted = true;
        cancelGreeting();
        liveness.start(frame.heartbeat_ms);
      }
      handler.frame(frame);
    },
    ended(reason) {
      stopTimers();
      handler.ended(reason, false);
    },
  });

  function probe(): void {
    handler.probe();
    liveness.expectWithin(PROBE_MS_MAX);
  }

  function stopTimers(): void {
    cancelGreeting();
    liveness.stop();
  }

  function end(dead: boolean): void {
    stopTimers();
    socket.end(dead);
  }

  return { greeted: () => greeted, send: (frame) => greeted && socket.send(frame), probe, end };
}
