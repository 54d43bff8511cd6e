// The client as a pure function: (state, frame) → (state, actions). The SDK runs it, and so does every test that plays a
// device. It never counts on its own; it keeps what the server says, checks the sums (SY7) and asks when they differ.
//
//   live ──delta, base = our version──▶ live            what is shown (epoch … mentions) is always one whole version
//    │  └─welcome/synced delta─▶ catchup ──frame that reaches the target──▶ live
//    └────welcome/synced snapshot─▶ snapshot ──last page──▶ live
//   anything that does not fit ─▶ action `sync`; the answer leads back into one of the three
//
// Work in progress (catchup, snapshot) is kept beside what is shown, so the screen stays until its replacement is complete.
import type { Cursor, Sync } from './client-frames.ts';
import { formatDigest, parseDigest } from './digest.ts';
import type { Acked, Delta, Hb, Row, ServerFrame, Snapshot, Synced, Welcome } from './server-frames.ts';
import { noSums, sumsOf, withoutRow, withRow } from './row-sums.ts';
import type { RowSums } from './row-sums.ts';

export type Rows = ReadonlyMap<string, Row>;

export interface ClientState {
  /** What is shown: the rows of one version and the sums that the server gave for it. `epoch` is null before the first snapshot. */
  readonly epoch: string | null;
  readonly syncVersion: number;
  readonly rows: Rows;
  readonly total: number;
  readonly badge: number;
  readonly mentions: number;
  /** The device's own sums over `rows`; they differ from the server's only while a repair is under way. */
  readonly own: RowSums;
  readonly catchup: Catchup | null;
  readonly snapshot: SnapshotInProgress | null;
  /** Whether the present socket has answered hello; nothing else may come before. */
  readonly greeted: boolean;
  /** `wanted`: an action `sync` was given out and is not yet sent; `asked`: sent and not yet answered. */
  readonly sync: 'idle' | 'wanted' | 'asked';
  /** Syncs asked for since the sums were last found equal; makes the delay grow. */
  readonly repairs: number;
  /** Heartbeats since an outstanding page, catch-up frame or answer last came nearer. */
  readonly idleBeats: number;
}

/** A catch-up in several frames: complete up to `at`, shown when `target` is reached. */
export interface Catchup {
  readonly target: number;
  readonly at: number;
  readonly rows: Rows;
}

/** Pages at `version`, deltas up to `at`; `rows` holds tombstones until the last page (SY6). */
export interface SnapshotInProgress {
  readonly epoch: string;
  readonly version: number;
  readonly at: number;
  readonly sums: RowSums;
  readonly page: number;
  readonly next: string | null;
  readonly rows: Rows;
  /** Pages of an earlier connection; they are taken over if the first page continues them. */
  readonly earlier: { readonly page: number; readonly rows: Rows } | null;
}

export type SyncCause = 'gap' | 'behind' | 'mismatch' | 'epoch' | 'page' | 'stalled';
/** Send `requestSync(state)` after `delayMs`; one such wish at a time. */
export type Action = { type: 'sync'; cause: SyncCause; delayMs: number };
export type Step = { state: ClientState; actions: readonly Action[] };

export type HelloFields = { cursor: Cursor | null; digest?: string; page?: string };

/** After so many heartbeats without progress an outstanding answer is given up and asked for again. */
const idleBeatsMax = 3;
const repairDelayMsMin = 1000;
const repairDelayMsMax = 60_000;
const noActions: readonly Action[] = [];
const noRows: Rows = new Map();

export function initialState(): ClientState {
  return {
    epoch: null,
    syncVersion: 0,
    rows: noRows,
    total: 0,
    badge: 0,
    mentions: 0,
    own: noSums,
    catchup: null,
    snapshot: null,
    greeted: false,
    sync: 'idle',
    repairs: 0,
    idleBeats: 0,
  };
}

/** A state from storage. Rows and cursor have to be saved together; the sums are made anew, so that a damaged copy is found. */
export function restoredState(saved: { epoch: string; syncVersion: number; rows: Iterable<Row> }): ClientState {
  const rows = new Map<string, Row>();
  for (const row of saved.rows) if (row.gone !== true) rows.set(row.conv, row);
  const own = sumsOf(rows.values());
  const { total, badge, mentions } = own;
  return { ...initialState(), epoch: saved.epoch, syncVersion: saved.syncVersion, rows, total, badge, mentions, own };
}

/** A new socket: what was asked on the old one is forgotten, unfinished work is kept and continued from where it stands. */
export function reconnect(state: ClientState): { state: ClientState; hello: HelloFields } {
  const hello: HelloFields = where(state);
  if (state.snapshot !== null && state.snapshot.next !== null) hello.page = state.snapshot.next;
  return { state: { ...state, greeted: false, sync: 'idle', idleBeats: 0 }, hello };
}

/** The frame that asks where we stand: after an action `sync`, and when the app comes to the foreground. */
export function requestSync(state: ClientState): { state: ClientState; frame: Sync } {
  return { state: { ...state, sync: 'asked', idleBeats: 0 }, frame: { t: 'sync', ...where(state) } };
}

export function reduce(state: ClientState, frame: ServerFrame): Step {
  switch (frame.t) {
    case 'welcome':
    case 'synced':
      return answered(state, frame);
    case 'snapshot':
      return state.greeted ? paged(state, frame) : ask(state, 'page');
    case 'delta':
      return state.greeted ? changed(state, frame) : ask(state, 'gap');
    case 'hb':
    case 'acked':
      return state.greeted ? heard(state, frame) : waiting(ask(state, 'gap'), frame);
    case 'auth_ok':
    case 'bye':
    case 'error':
      return quiet(state);
  }
}

// ------------------------------------------------------------------ answers to hello and sync

function answered(before: ClientState, frame: Welcome | Synced): Step {
  const state: ClientState = { ...before, greeted: true, sync: 'idle', idleBeats: 0 };
  if (frame.mode === 'snapshot') return quiet({ ...state, catchup: null, snapshot: begun(state.snapshot, frame) });
  if (frame.epoch !== state.epoch) return ask({ ...state, catchup: null, snapshot: null }, 'epoch');
  const at = state.catchup?.at ?? state.syncVersion;
  if (frame.mode === 'delta') {
    const catchup = { target: frame.sync_version, at, rows: state.catchup?.rows ?? noRows };
    return quiet({ ...state, catchup, snapshot: null });
  }
  if (frame.sync_version > at) return ask({ ...state, snapshot: null }, 'behind');
  if (frame.sync_version === at) return settled(shown({ ...state, snapshot: null }), frame);
  // Below what we hold: a push that was under way brought more. Unless that was a catch-up, it is shown already.
  return at === state.syncVersion ? quiet({ ...state, catchup: null, snapshot: null }) : ask(state, 'gap');
}

/** [SY6] Pages of an earlier connection stay usable only at the same epoch and version, and if the first page goes on from them. */
function begun(earlier: SnapshotInProgress | null, frame: Welcome | Synced): SnapshotInProgress {
  const same =
    earlier !== null &&
    earlier.next !== null &&
    earlier.epoch === frame.epoch &&
    earlier.version === frame.sync_version;
  return {
    epoch: frame.epoch,
    version: frame.sync_version,
    at: frame.sync_version,
    sums: sumsIn(frame),
    page: 0,
    next: null,
    rows: noRows,
    earlier: same ? { page: earlier.page, rows: earlier.rows } : null,
  };
}

// ------------------------------------------------------------------ snapshot pages

function paged(state: ClientState, frame: Snapshot): Step {
  const { snapshot } = state;
  const collected = snapshot === null ? null : collectedBefore(snapshot, frame);
  if (snapshot === null || collected === null) return ask({ ...state, snapshot: null }, 'page');
  for (const row of frame.rows) if (row.gone !== true) takeNewer(collected, row);
  if (!frame.end) {
    const progress = { ...snapshot, page: frame.page, next: frame.next ?? null, rows: collected, earlier: null };
    return quiet({ ...state, snapshot: progress, idleBeats: 0 });
  }
  for (const [conv, row] of collected) if (row.gone === true) collected.delete(conv);
  const complete: ClientState = {
    ...state,
    epoch: snapshot.epoch,
    syncVersion: snapshot.at,
    rows: collected,
    own: sumsOf(collected.values()),
    snapshot: null,
    catchup: null,
    idleBeats: 0,
  };
  // Deltas that came in between are newer than the pages: then their sums are the ones to meet.
  return judged(complete, snapshot.at === snapshot.version ? sumsIn(frame) : snapshot.sums);
}

/** The rows that the page adds to, or null when it is not the next page of this snapshot. */
function collectedBefore(snapshot: SnapshotInProgress, frame: Snapshot): Map<string, Row> | null {
  if (frame.epoch !== snapshot.epoch || frame.sync_version !== snapshot.version) return null;
  const { earlier } = snapshot;
  if (frame.page === snapshot.page + 1) return new Map(snapshot.rows);
  if (earlier === null || frame.page !== earlier.page + 1) return null;
  const rows = new Map(earlier.rows);
  for (const row of snapshot.rows.values()) takeNewer(rows, row);
  return rows;
}

// ------------------------------------------------------------------ deltas

function changed(state: ClientState, frame: Delta): Step {
  const { snapshot, catchup } = state;
  if (frame.epoch !== (snapshot ?? state).epoch) return ask(state, 'epoch');
  if (!wellMade(frame)) return ask(state, 'gap');
  if (snapshot !== null) {
    if (frame.base_version > snapshot.at) return ask(state, 'gap');
    const rows = withNewer(snapshot.rows, frame.rows, snapshot.at);
    const ahead = frame.sync_version > snapshot.at;
    const at = ahead ? frame.sync_version : snapshot.at;
    const sums = ahead ? sumsIn(frame) : snapshot.sums;
    return quiet({ ...state, snapshot: { ...snapshot, rows, at, sums }, idleBeats: 0 });
  }
  if (catchup !== null) {
    // May begin below our version: a push that was under way when we asked brought a part of it already.
    if (frame.base_version > catchup.at) return ask(state, 'gap');
    const rows = withNewer(catchup.rows, frame.rows, catchup.at);
    const next = {
      ...state,
      catchup: { ...catchup, rows, at: Math.max(catchup.at, frame.sync_version) },
      idleBeats: 0,
    };
    if (frame.sync_version < catchup.target) return quiet(next);
    if (frame.sync_version < next.catchup.at && next.catchup.at > state.syncVersion) return ask(next, 'gap');
    return settled(shown(next), frame);
  }
  if (frame.base_version !== state.syncVersion) return ask(state, 'gap'); // [SY4]
  return settled(withRows(state, frame.rows, frame.sync_version), frame);
}

function wellMade(frame: Delta): boolean {
  if (frame.sync_version <= frame.base_version) return false;
  for (const row of frame.rows) if (row.version > frame.sync_version) return false;
  return true;
}

// ------------------------------------------------------------------ heartbeats and acks

/** [SY7] A lower version is not compared, a higher one was missed; nothing is compared while pages or frames are due. */
function heard(state: ClientState, frame: Hb | Acked): Step {
  const { snapshot, catchup } = state;
  const epoch = (snapshot ?? state).epoch;
  const known = snapshot?.at ?? Math.max(catchup?.target ?? 0, catchup?.at ?? state.syncVersion);
  if (frame.t === 'hb' && frame.epoch !== epoch) return waiting(ask(state, 'epoch'), frame);
  if (frame.sync_version > known) return waiting(ask(state, 'behind'), frame);
  if (snapshot !== null || catchup !== null || frame.sync_version < known) return waiting(quiet(state), frame);
  const { own } = state;
  const equal = frame.total === own.total && parseDigest(frame.digest) === own.digest;
  return waiting(equal ? quiet(verified(state)) : ask(state, 'mismatch'), frame);
}

/** Counts the heartbeats that pass while something is due; gives it up after a few (a frame may be lost inside a server). */
function waiting(step: Step, frame: Hb | Acked): Step {
  const { state } = step;
  const due = state.snapshot !== null || state.catchup !== null || state.sync === 'asked';
  if (frame.t !== 'hb' || !due || step.actions.length > 0) return step;
  const idleBeats = state.idleBeats + 1;
  if (idleBeats < idleBeatsMax) return quiet({ ...state, idleBeats });
  return ask({ ...state, sync: 'idle' }, 'stalled');
}

// ------------------------------------------------------------------ parts

function quiet(state: ClientState): Step {
  return { state, actions: noActions };
}

/** One wish at a time. The first is for at once; each further one without equal sums in between waits longer. */
function ask(state: ClientState, cause: SyncCause): Step {
  if (state.sync !== 'idle') return quiet(state);
  const doubled = repairDelayMsMin * 2 ** (state.repairs - 1);
  const delayMs = state.repairs === 0 ? 0 : Math.min(repairDelayMsMax, doubled);
  const next: ClientState = { ...state, sync: 'wanted', repairs: state.repairs + 1, idleBeats: 0 };
  return { state: next, actions: [{ type: 'sync', cause, delayMs }] };
}

/** Takes the rows of a catch-up over into what is shown. */
function shown(state: ClientState): ClientState {
  const { catchup } = state;
  if (catchup === null) return state;
  return { ...withRows(state, catchup.rows.values(), catchup.at), catchup: null };
}

/** The sums of a frame belong to its version only: those of a lower one than we stand at are left alone. */
function settled(state: ClientState, frame: Delta | Welcome | Synced): Step {
  return frame.sync_version === state.syncVersion ? judged(state, sumsIn(frame)) : quiet(state);
}

/** [SY7] Own sums and digest have to equal the server's. */
function judged(state: ClientState, sums: RowSums): Step {
  const { total, badge, mentions, digest } = sums;
  const { own } = state;
  const next = { ...state, total, badge, mentions };
  const equal = own.total === total && own.badge === badge && own.mentions === mentions && own.digest === digest;
  return equal ? quiet(verified(next)) : ask(next, 'mismatch');
}

function verified(state: ClientState): ClientState {
  return state.repairs === 0 ? state : { ...state, repairs: 0 };
}

/** [SY3] Rows above the version we stand at are new to us; all others we have seen, even if we no longer hold them. */
function withRows(state: ClientState, changes: Iterable<Row>, syncVersion: number): ClientState {
  const rows = new Map(state.rows);
  let { own } = state;
  for (const row of changes) {
    const held = rows.get(row.conv);
    if (row.version <= state.syncVersion || (held !== undefined && row.version <= held.version)) continue;
    if (held !== undefined) own = withoutRow(own, held);
    if (row.gone === true) rows.delete(row.conv);
    else {
      rows.set(row.conv, row);
      own = withRow(own, row);
    }
  }
  return { ...state, rows, own, syncVersion: Math.max(state.syncVersion, syncVersion) };
}

function withNewer(rows: Rows, changes: readonly Row[], above: number): Map<string, Row> {
  const next = new Map(rows);
  for (const row of changes) if (row.version > above) takeNewer(next, row);
  return next;
}

function takeNewer(rows: Map<string, Row>, row: Row): void {
  const held = rows.get(row.conv);
  if (held === undefined || row.version > held.version) rows.set(row.conv, row);
}

function sumsIn(frame: Snapshot | Delta | Welcome | Synced): RowSums {
  const { total, badge, mentions } = frame;
  return { total, badge, mentions, digest: parseDigest(frame.digest) };
}

/** The cursor names what we hold, unfinished catch-up included; the digest only what is shown, which is what it was made of. */
function where(state: ClientState): { cursor: Cursor | null; digest?: string } {
  if (state.epoch === null) return { cursor: null };
  const at = state.catchup?.at ?? state.syncVersion;
  const cursor = { epoch: state.epoch, sync_version: at };
  return at === state.syncVersion ? { cursor, digest: formatDigest(state.own.digest) } : { cursor };
}
