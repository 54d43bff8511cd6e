// Is the other side still there? Any frame is a sign of life. One timer, and clocks are compared: a timer that comes late
// tells that this machine slept or a browser held it back, not that the server is gone.
import type { ClientClock } from './ports.ts';

export interface LivenessHandler {
  /** Nothing came in time: the socket is dead. */
  silent(): void;
  /** Time has passed unseen: ask the server for a sign (`expect`). */
  asleep(): void;
}

/** The server sends a heartbeat every `heartbeat_ms`; so much later the socket is taken for dead. */
const SLACK_MS = 8_000;
/** A timer that comes later than this was held back. */
const LATE_MS = 2_000;
/** A background tab's timers are all late; a dead socket must not outlive that for ever. */
const PROBES_MAX = 3;

export function createLiveness(clock: ClientClock, handler: LivenessHandler) {
  let usualMs = 0;
  let limitMs = 0;
  let heardAt = 0;
  let probes = 0;
  let cancel: (() => void) | null = null;

  function stop(): void {
    cancel?.();
    cancel = null;
  }

  function arm(delayMs: number): void {
    stop();
    const dueAt = clock.nowMs() + delayMs;
    cancel = clock.after(delayMs, () => look(dueAt));
  }

  function look(dueAt: number): void {
    const now = clock.nowMs();
    // By a clock that was set back nothing has been heard yet: then the whole limit is waited once more.
    heardAt = Math.min(heardAt, now);
    const quietMs = now - heardAt;
    if (quietMs < limitMs) arm(limitMs - quietMs);
    else if (now - dueAt > LATE_MS && probes++ < PROBES_MAX) {
      arm(limitMs);
      handler.asleep();
    } else {
      stop();
      handler.silent();
    }
  }

  /** A frame has to come within `ms` from now; after it the usual limit holds again. */
  function expect(ms: number): void {
    limitMs = ms;
    heardAt = clock.nowMs();
    arm(ms);
  }

  return {
    start(heartbeatMs: number): void {
      probes = 0;
      expect((usualMs = heartbeatMs + SLACK_MS));
    },
    /** A frame has come. */
    heard(): void {
      heardAt = clock.nowMs();
      probes = 0;
      if (limitMs !== usualMs && cancel !== null) expect(usualMs);
    },
    expect,
    stop,
  };
}
