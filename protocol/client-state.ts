// The client as a pure function: (state, frame) → (state, actions). The SDK runs it, and so does every test that plays a
// device. [CD1] It never counts on its own; it keeps what the server says, checks the sums (SY7) and asks when they differ.
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

/** `own`: the device's own sums over `rows`; they differ from the server's only while a repair is under way. */
interface Held {
  readonly rows: Rows;
  readonly own: RowSums;
}

export interface ClientState extends Held {
  /** What is shown: the rows of one version and the sums that the server gave for it. `epoch` is null before the first snapshot. */
  readonly epoch: string | null;
  readonly syncVersion: number;
  readonly total: number;
  readonly badge: number;
  readonly mentions: number;
  readonly catchup: Catchup | null;
  readonly snapshot: SnapshotInProgress | null;
  /** [CD3] Whether the present socket has answered hello; nothing else may come before. */
  readonly greeted: boolean;
  /** `wanted`: an action `sync` was given out and is not yet sent; `asked`: sent and not yet answered. */
  readonly sync: 'idle' | 'wanted' | 'asked';
  /** Syncs asked for since the sums were last found equal; makes the delay grow. */
  readonly repairs: number;
  /** Heartbeats since an outstanding page, catch-up frame or answer last came nearer. */
  readonly idleBeats: number;
}

/** A catch-up in several frames: what is shown, brought up to `at`; takes its place when `target` is reached. */
export interface Catchup extends Held {
  readonly target: number;
  readonly at: number;
}

/** Pages at `version`, deltas up to `at`. */
export interface SnapshotInProgress extends Collected {
  readonly epoch: string;
  readonly version: number;
  readonly at: number;
  readonly sums: RowSums;
  readonly page: number;
  readonly next: string | null;
  /** Pages of an earlier connection; they are taken over if the first page continues them. */
  readonly earlier: (Collected & { readonly page: number }) | null;
}

/**
 * What pages brought, hashed as they came and put together with the last: 10,000 rows at once would hold up a page on a screen,
 * and a map that is copied for each page costs more than all the rest.
 */
interface Collected {
  readonly listed: readonly (readonly [conv: string, row: Row])[];
  /** Of `listed`. */
  readonly own: RowSums;
  /** Of the deltas in between, tombstones too (SY6). */
  readonly since: Rows;
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
const nothing: Held = { rows: noRows, own: noSums };

export function initialState(): ClientState {
  return {
    epoch: null,
    syncVersion: 0,
    ...nothing,
    total: 0,
    badge: 0,
    mentions: 0,
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
  const held = withRows(nothing, saved.rows, -1);
  const { digest: _, ...totals } = held.own;
  const { epoch, syncVersion } = saved;
  return { ...initialState(), epoch, syncVersion, ...held, ...totals };
}

/** [CD6] A new socket: what was asked on the old one is forgotten, unfinished work is kept and continued from where it stands. */
export function reconnect(state: ClientState): { state: ClientState; hello: HelloFields } {
  const hello: HelloFields = where(state);
  if (state.snapshot?.next) hello.page = state.snapshot.next;
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
    const { rows, own } = state.catchup ?? state;
    const catchup = { target: frame.sync_version, at, rows, own };
    return quiet({ ...state, catchup, snapshot: null });
  }
  if (frame.sync_version > at) return ask({ ...state, snapshot: null }, 'behind');
  if (frame.sync_version === at) return settled(shown({ ...state, snapshot: null }), frame);
  // Below what we hold: a push that was under way brought more. Unless that was a catch-up, it is shown already.
  return at === state.syncVersion ? quiet({ ...state, catchup: null, snapshot: null }) : ask(state, 'gap');
}

/** [SY6] Pages of an earlier connection stay usable only at the same epoch and version, and if the first page goes on from them. */
function begun(earlier: SnapshotInProgress | null, frame: Welcome | Synced): SnapshotInProgress {
  const same = earlier?.epoch === frame.epoch && earlier.version === frame.sync_version && earlier.next !== null;
  return {
    epoch: frame.epoch,
    version: frame.sync_version,
    at: frame.sync_version,
    sums: sumsIn(frame),
    page: 0,
    next: null,
    listed: [],
    own: noSums,
    since: noRows,
    earlier: same ? earlier : null,
  };
}

// ------------------------------------------------------------------ snapshot pages

function paged(state: ClientState, frame: Snapshot): Step {
  const { snapshot } = state;
  const before = snapshot && collectedBefore(snapshot, frame);
  if (snapshot === null || before === null) return ask({ ...state, snapshot: null }, 'page');
  const listed = frame.rows.filter((row) => row.gone !== true);
  const collected: SnapshotInProgress = {
    ...snapshot,
    listed: [...before.listed, ...listed.map((row) => [row.conv, row] as const)],
    own: sumsOf(listed, before.own),
    since: before.since,
    page: frame.page,
    next: frame.next ?? null,
    earlier: null,
  };
  if (!frame.end) return quiet({ ...state, snapshot: collected, idleBeats: 0 });
  const complete: ClientState = {
    ...state,
    ...putTogether(collected),
    epoch: snapshot.epoch,
    syncVersion: snapshot.at,
    snapshot: null,
    catchup: null,
    idleBeats: 0,
  };
  // Deltas that came in between are newer than the pages: then their sums are the ones to meet.
  return judged(complete, snapshot.at === snapshot.version ? sumsIn(frame) : snapshot.sums);
}

/** What the page adds to, or null when it is not the next page of this snapshot. */
function collectedBefore(snapshot: SnapshotInProgress, frame: Snapshot): Collected | null {
  if (frame.epoch !== snapshot.epoch || frame.sync_version !== snapshot.version) return null;
  const { earlier } = snapshot;
  if (frame.page === snapshot.page + 1) return snapshot;
  if (earlier === null || frame.page !== earlier.page + 1) return null;
  return { ...earlier, since: withNewer(earlier.since, snapshot.since.values(), -1) };
}

function putTogether({ listed, own, since }: Collected): Held {
  const rows = new Map(listed);
  // No server lists a conversation twice.
  const sums = rows.size === listed.length ? own : sumsOf(rows.values());
  return withRows({ rows, own: sums }, since.values(), -1, rows);
}

// ------------------------------------------------------------------ deltas

function changed(state: ClientState, frame: Delta): Step {
  const { snapshot, catchup } = state;
  if (frame.epoch !== (snapshot ?? state).epoch) return ask(state, 'epoch');
  if (!wellMade(frame)) return ask(state, 'gap');
  if (snapshot !== null) {
    if (frame.base_version > snapshot.at) return ask(state, 'gap');
    const since = withNewer(snapshot.since, frame.rows, snapshot.at);
    const end = frame.sync_version > snapshot.at ? { at: frame.sync_version, sums: sumsIn(frame) } : {};
    return quiet({ ...state, snapshot: { ...snapshot, since, ...end }, idleBeats: 0 });
  }
  if (catchup !== null) {
    // [CD4] May begin below our version: a push that was under way when we asked brought a part of it already.
    if (frame.base_version > catchup.at) return ask(state, 'gap');
    const held = withRows(catchup, frame.rows, catchup.at);
    const at = Math.max(catchup.at, frame.sync_version);
    const next = { ...state, catchup: { ...catchup, ...held, at }, idleBeats: 0 };
    if (frame.sync_version < catchup.target) return quiet(next);
    if (frame.sync_version < next.catchup.at && next.catchup.at > state.syncVersion) return ask(next, 'gap');
    return settled(shown(next), frame);
  }
  if (frame.base_version !== state.syncVersion) return ask(state, 'gap'); // [SY4]
  const held = withRows(state, frame.rows, state.syncVersion);
  return settled({ ...state, ...held, syncVersion: frame.sync_version }, frame);
}

function wellMade(frame: Delta): boolean {
  const { base_version, sync_version, rows } = frame;
  return sync_version > base_version && rows.every(({ version }) => version <= sync_version);
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

/** [CD7] Counts the heartbeats that pass while something is due; gives it up after a few (a frame may be lost inside a server). */
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

/** [CD5] One wish at a time. The first is for at once; each further one without equal sums in between waits longer. */
function ask(state: ClientState, cause: SyncCause): Step {
  if (state.sync !== 'idle') return quiet(state);
  const doubled = repairDelayMsMin * 2 ** (state.repairs - 1);
  const delayMs = state.repairs === 0 ? 0 : Math.min(repairDelayMsMax, doubled);
  const next: ClientState = { ...state, sync: 'wanted', repairs: state.repairs + 1, idleBeats: 0 };
  return { state: next, actions: [{ type: 'sync', cause, delayMs }] };
}

/** The catch-up takes the place of what is shown. */
function shown(state: ClientState): ClientState {
  if (state.catchup === null) return state;
  const { rows, own, at } = state.catchup;
  return { ...state, rows, own, syncVersion: at, catchup: null };
}

/** The sums of a frame belong to its version only: those of a lower one than we stand at are left alone. */
function settled(state: ClientState, frame: Delta | Welcome | Synced): Step {
  return frame.sync_version === state.syncVersion ? judged(state, sumsIn(frame)) : quiet(state);
}

/** [SY7] Own sums and digest have to equal the server's. */
function judged(state: ClientState, sums: RowSums): Step {
  const { digest: _, ...totals } = sums;
  const next = { ...state, ...totals };
  const equal = (Object.keys(sums) as (keyof RowSums)[]).every((sum) => sums[sum] === state.own[sum]);
  return equal ? quiet(verified(next)) : ask(next, 'mismatch');
}

function verified(state: ClientState): ClientState {
  return state.repairs === 0 ? state : { ...state, repairs: 0 };
}

/** [SY3] Rows above the version we stand at are new to us; all others we have seen, even if we no longer hold them. */
function withRows(held: Held, changes: Iterable<Row>, above: number, rows = new Map(held.rows)): Held {
  let { own } = held;
  for (const row of changes) {
    const old = rows.get(row.conv);
    if (row.version <= Math.max(above, old?.version ?? above)) continue;
    if (old !== undefined) own = withoutRow(own, old);
    if (row.gone === true) rows.delete(row.conv);
    else {
      rows.set(row.conv, row);
      own = withRow(own, row);
    }
  }
  return { rows, own };
}

function withNewer(rows: Rows, changes: Iterable<Row>, above: number): Rows {
  const next = new Map(rows);
  for (const row of changes) if (row.version > (next.get(row.conv)?.version ?? above)) next.set(row.conv, row);
  return next;
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
