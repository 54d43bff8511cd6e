// When commands go out: at once while the line is idle, else after the answer to the frame before, or when that is overdue.
// Acks wait meanwhile, so there are never more frames than needed.
import type { ClientFrame } from '../protocol/client-frames.ts';
import type { ErrorCode } from '../protocol/error-codes.ts';
import type { ErrorFrame } from '../protocol/server-frames.ts';
import type { CommandQueue } from './command-queue.ts';
import type { ClientClock } from './ports.ts';

/** The codes with `retry` in the protocol's table of error codes, which would weigh too much here. */
export const RETRYABLE: readonly string[] = ['rate_limited', 'unavailable', 'internal'] satisfies ErrorCode[];

/** A command waits so long at most for the answer to the one before: an answer may take long, and the app may be closed. */
const WAIT_MS_MAX = 1_000;
const RETRY_MS_DEFAULT = 1_000;

export interface Line {
  /** Whether the server has welcomed us. */
  greeted(): boolean;
  send(frame: ClientFrame): void;
}

export type Sender = ReturnType<typeof createSender>;

export function createSender(queue: CommandQueue, clock: ClientClock, line: Line) {
  /** The server has said when to come again. Not a time of the clock, which may be set back by an hour. */
  let isHeld = false;
  let cancelNext: (() => void) | null = null;
  let cancelWait: (() => void) | null = null;

  /** `wait`: for the answer to the frame before. */
  function flush(wait: boolean): void {
    if (isHeld || !line.greeted()) return;
    for (let frame = queue.next(wait); frame !== null; frame = queue.next(wait)) {
      line.send(frame);
      stopWaiting();
    }
    if (queue.waiting()) {
      cancelWait ??= clock.after(WAIT_MS_MAX, () => {
        cancelWait = null;
        flush(false);
      });
    }
  }

  function stopWaiting(): void {
    cancelWait?.();
    cancelWait = null;
  }

  function after(delayMs: number): void {
    cancelNext ??= clock.after(delayMs, () => {
      cancelNext = null;
      isHeld = false;
      flush(true);
    });
  }

  function stopNext(): void {
    cancelNext?.();
    cancelNext = null;
  }

  return {
    flush,

    /** After this turn of the event loop, so that what is done together goes together. */
    soon: () => after(0),

    /** The server cannot do it now: in how many ms to try again, null when trying again is of no use. */
    postponed(frame: ErrorFrame): number | null {
      const retryMs = frame.retry_ms ?? (RETRYABLE.includes(frame.code) ? RETRY_MS_DEFAULT : null);
      if (retryMs !== null) {
        stopNext();
        isHeld = true;
        after(retryMs);
      }
      return retryMs;
    },

    /** The socket is gone: nothing is sent, and nothing is known of the next one. */
    stop(): void {
      stopNext();
      stopWaiting();
      isHeld = false;
    },
  };
}
