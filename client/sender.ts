// When commands go out: at once, in order, and never more ack frames than needed. While one is unanswered the next acks
// gather; nothing waits when the line is idle.
import type { ClientFrame } from '../protocol/client-frames.ts';
import type { ErrorCode } from '../protocol/error-codes.ts';
import type { ErrorFrame } from '../protocol/server-frames.ts';
import type { CommandQueue } from './command-queue.ts';
import type { ClientClock } from './ports.ts';

/** The codes with `retry` in the protocol's table of error codes, which would weigh too much here. */
export const RETRYABLE: readonly string[] = ['rate_limited', 'unavailable', 'internal'] satisfies ErrorCode[];

/** Acks wait so long at most for the answer to the ones before. */
const GATHER_MS_MAX = 1_000;
const RETRY_MS_DEFAULT = 1_000;

export interface Line {
  /** Whether the server has welcomed us. */
  greeted(): boolean;
  send(frame: ClientFrame): void;
}

export function createSender(queue: CommandQueue, clock: ClientClock, line: Line) {
  let holdUntil = 0;
  let cancelNext: (() => void) | null = null;
  let cancelGather: (() => void) | null = null;

  /** `gather`: acks wait while others are unanswered. */
  function flush(gather: boolean): void {
    if (!line.greeted()) return undefined;
    const holdMs = holdUntil - clock.nowMs();
    if (holdMs > 0) return after(holdMs);
    for (let frame = queue.next(gather); frame !== null; frame = queue.next(gather)) line.send(frame);
    if (queue.waiting()) {
      cancelGather ??= clock.after(GATHER_MS_MAX, () => {
        cancelGather = null;
        flush(false);
      });
    }
    return undefined;
  }

  function after(delayMs: number): void {
    cancelNext ??= clock.after(delayMs, () => {
      cancelNext = null;
      flush(true);
    });
  }

  return {
    flush,

    /** After this turn of the event loop, so that what is done together goes together. */
    soon: () => after(0),

    /** The server cannot do it now: in how many ms to try again, null when trying again is of no use. */
    heldBack(frame: ErrorFrame): number | null {
      const retryMs = frame.retry_ms ?? (RETRYABLE.includes(frame.code) ? RETRY_MS_DEFAULT : null);
      if (retryMs !== null) holdUntil = clock.nowMs() + retryMs;
      return retryMs;
    },

    /** The socket is gone: nothing is sent, and nothing is known of the next one. */
    stop(): void {
      cancelNext?.();
      cancelGather?.();
      cancelNext = cancelGather = null;
      holdUntil = 0;
    },
  };
}
