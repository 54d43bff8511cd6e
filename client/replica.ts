// This device's copy of the user's rows. `reduce` of the protocol alone changes it; here is what happens around that: the
// sync frames it asks for, and which of its states may be shown.
import type { ClientFrame, Sync } from '../protocol/client-frames.ts';
import { initialState, reconnect, reduce, requestSync, restoredState } from '../protocol/client-state.ts';
import type { ClientState, HelloFields, Step, SyncCause } from '../protocol/client-state.ts';
import { parseDigest } from '../protocol/digest.ts';
import type { ServerFrame } from '../protocol/server-frames.ts';
import type { ClientClock } from './ports.ts';
import type { StateEvent } from './transitions.ts';

export type Replica = ReturnType<typeof createReplica>;

/** [SY7] Sums or versions did not meet; `rung`: how often in a row, without equal sums in between. */
export interface Repair {
  cause: SyncCause;
  rung: number;
  delayMs: number;
}

export interface ReplicaHandler {
  send(frame: ClientFrame): void;
  repairing(repair: Repair): void;
}

/**
 * Rows that do not meet the server's total and digest are not shown while they can be repaired: delta, snapshot, rebuild
 * from truth. After that what the server says is better than what stands still.
 */
const RUNGS = 3;

export function createReplica(clock: ClientClock, handler: ReplicaHandler) {
  let state = initialState();
  let shown = state;
  let cancelSync = () => {};

  /** What the state means for the connection. */
  function meaning(): StateEvent {
    if (state.snapshot !== null || state.catchup !== null) return 'welcomed';
    return state.sync === 'idle' ? 'verified' : 'doubted';
  }

  function mayBeShown(frame: ServerFrame): boolean {
    if (state.rows === shown.rows || state.repairs > RUNGS) return true;
    if ('digest' in frame && frame.sync_version === state.syncVersion) {
      return parseDigest(frame.digest) === state.own.digest;
    }
    // Deltas that came between the pages are newer than the last page: then the reducer has compared with theirs.
    return frame.t === 'snapshot' && state.snapshot === null && state.repairs === 0 && state.sync === 'idle';
  }

  function sync(from?: Pick<Sync, 'cursor'>): void {
    cancelSync();
    const asked = requestSync(state);
    state = asked.state;
    handler.send({ ...asked.frame, ...from });
  }

  function syncAfter(delayMs: number): void {
    cancelSync();
    if (delayMs === 0) sync();
    else cancelSync = clock.after(delayMs, () => sync());
  }

  function replace(next: ClientState): void {
    cancelSync();
    state = shown = next;
  }

  return {
    /** The last state that may be shown: one whole version. */
    shown: () => shown,

    restore: (saved: Parameters<typeof restoredState>[0]) => replace(restoredState(saved)),

    reset: () => replace(initialState()),

    hello(): HelloFields {
      const next = reconnect(state);
      state = next.state;
      return next.hello;
    },

    receive(frame: ServerFrame): StateEvent {
      // A frame type of a newer server is none of the reducer's.
      const step = reduce(state, frame) as Step | undefined;
      if (step === undefined) return meaning();
      state = step.state;
      if (mayBeShown(frame)) shown = state;
      for (const { cause, delayMs } of step.actions) {
        handler.repairing({ cause, rung: state.repairs, delayMs });
        syncAfter(delayMs);
      }
      return meaning();
    },

    /**
     * Where are we? Work in progress is not begun anew by that. `from`: no cursor brings all rows as they are, the heads that
     * have moved without a version too (SY9).
     */
    probe(from?: Pick<Sync, 'cursor'>): StateEvent {
      if (meaning() === 'welcomed' || state.sync === 'asked') handler.send({ t: 'ping' });
      else sync(from);
      return meaning();
    },

    /** The server could not answer a sync. */
    postponed(retryMs: number): void {
      if (state.sync === 'asked') syncAfter(retryMs);
    },

    /** The socket is gone; the next hello asks. */
    lost: () => cancelSync(),
  };
}
