// Keeps a session with the server for as long as the app wants one, and says in which state that is.
//
//   dial: token → session … → its end → (close code, retry_ms, back-off) → dial
import type { ClientFrame } from '../protocol/client-frames.ts';
import type { HelloFields } from '../protocol/client-state.ts';
import type { ServerFrame } from '../protocol/server-frames.ts';
import { createDialer } from './dialer.ts';
import type { DialerOptions } from './dialer.ts';
import { NO_CLOSE_FRAME, openSession } from './session.ts';
import type { Session, SessionHandler, SessionOptions, SocketEnd } from './session.ts';
import { TidemarkError } from './tidemark-error.ts';
import { transitions } from './transitions.ts';
import type { State, StateEvent } from './transitions.ts';

export type ConnectionOptions = SessionOptions & DialerOptions;

/** Why a connection does not come back by itself. `retryable`: `connect()` may help, after a new login for one. */
export interface Stop {
  code: number;
  reason: string;
  retryable: boolean;
}

export interface ConnectionHandler {
  /** Who this device is, and where it stands. */
  hello(): HelloFields & { device: string };
  frame(frame: ServerFrame): void;
  /** Nothing of what was sent on the last socket will be answered. */
  lost(): void;
  /** Is the server still there, and are we where it is? Send a sync. */
  probe(): void;
  changed(state: State, previous: State): void;
  fault(error: TidemarkError): void;
}

/** A verified state held so long ends a row of failures. */
const STEADY_MS = 10_000;
/** A system that calls itself offline may be wrong. */
const OFFLINE_RETRY_MS = 30_000;

export const CLOSED_BY_APP: Stop = { code: 1000, reason: 'closed by the app', retryable: false };
const NO_TOKEN: Stop = { code: 4401, reason: 'no token', retryable: true };
/** The same client would be refused again: protocol error, forbidden origin, unsupported version. */
const FINAL_CODES = [4400, 4403, 4405];

export type Connection = ReturnType<typeof createConnection>;

export function createConnection(options: ConnectionOptions, handler: ConnectionHandler) {
  let state: State = 'idle';
  let stop: Stop | null = null;
  let session: Session | null = null;
  let attempt = 0;
  let cancelSteady = () => {};
  const dialer = createDialer(options, {
    open: (token) => (token ? open(token) : halt(NO_TOKEN)),
    renewed: (token) => session?.send({ t: 'auth', token }),
    fault: (error) => handler.fault(error),
  });

  function enter(next: State): void {
    const previous = state;
    if (next === previous) return;
    state = next;
    cancelSteady();
    if (state === 'live') cancelSteady = options.clock.after(STEADY_MS, dialer.steady);
    handler.changed(state, previous);
  }

  function apply(event: StateEvent): void {
    enter(transitions[state][event]);
  }

  function open(token: string): void {
    // A page that is loaded again counts on from its clock, so that it is never older than a socket it left behind.
    attempt = Math.max(attempt + 1, options.clock.nowMs());
    const handlers: SessionHandler = {
      ...handler,
      hello: () => ({ t: 'hello', token, attempt, ...handler.hello() }),
      frame(frame) {
        if ('expires_at' in frame) dialer.lasts(frame.expires_at);
        handler.frame(frame);
      },
      ended,
    };
    try {
      session = openSession(options, handlers);
    } catch (cause) {
      // An address or a policy that the system does not let through, which may be over in a while.
      handler.fault(new TidemarkError('socket', 'no socket', { cause }));
      ended({ code: NO_CLOSE_FRAME, reason: '' });
    }
  }

  function ended(end: SocketEnd): void {
    session = null;
    handler.lost();
    letGo();
    if (dialer.afterEnd(end, state === 'offline' ? OFFLINE_RETRY_MS : 0)) apply('lost');
    else halt({ code: end.code, reason: end.reason, retryable: !FINAL_CODES.includes(end.code) });
  }

  function halt(why: Stop): void {
    stop = why;
    apply('refused');
  }

  function letGo(): void {
    dialer.cancel();
    cancelSteady();
    if (session === null) return;
    session.end();
    session = null;
    handler.lost();
  }

  const greeted = () => session?.greeted() === true;

  /** Looks whether the server is there and opens a new session if it is not; without one, comes back sooner. */
  function probe(): void {
    if (greeted()) session?.probe();
    else dialer.sooner();
  }

  return {
    apply,
    probe,
    greeted,
    state: () => state,
    stop: () => stop,

    /** Nothing is sent before the welcome. */
    send: (frame: ClientFrame) => session?.send(frame),

    connect(): void {
      if (state !== 'idle' && state !== 'stopped') return;
      if (stop !== null) dialer.forget();
      stop = null;
      apply('connect');
      dialer.now();
    },

    disconnect(): void {
      letGo();
      apply('disconnect');
    },

    /** For good: nothing is left running. */
    close(): void {
      letGo();
      dialer.close();
      stop = CLOSED_BY_APP;
      enter('stopped');
    },

    offline(): void {
      if (state === 'idle' || state === 'stopped') return;
      letGo();
      apply('offline');
      dialer.after(OFFLINE_RETRY_MS);
    },

    online(): void {
      apply('online');
      probe();
    },
  };
}
