/**
 * One user's state: the rows, sync_version, totals, digest and tombstones (ARCHITECTURE, truth and state). The truth may be offered to it in any
 * order, doubled, late or with holes; the revs of truth decide what is stored, and what they cannot decide is named to be derived
 * anew. Nothing here adds to a number that is not at the very rev which the addition starts from.
 *
 *                     rev of the conversation
 *                     lower      equal      higher
 *     rev of  lower   older      older      derive        older: no effect
 *     member  equal   older      the same   store         the same: no effect, except in a repair
 *             higher  derive     store      store
 *
 * `offer` changes the state in place, since it is the hottest path of the system (one call a member and message). Rows are values:
 * a changed row is a new object, so whoever holds rows of a view keeps what it was given.
 */
import { addDigest, formatDigest, rowDigest, subtractDigest } from '../../protocol/index.ts';
import type { Row } from '../../protocol/index.ts';
import type { Change, ConversationPart, StateCall, StateHead } from './change-set.ts';
import { tallyPart } from './part-tally.ts';
import { listingOf, looksSame, reportedUnread, toWireRow } from './row.ts';
import type { DerivedRow, HeldRow } from './row.ts';

/** A row as the state keeps it. */
export interface StateRow extends HeldRow {
  /**
   * The row's place in lists that are paged through; it changes only together with the version. Otherwise a row could move from a
   * page still to come to one already sent and be missing from a snapshot that is resumed (SY6).
   */
  readonly activity: number;
  /** The newest activity known; `activity` takes it over when the version changes. */
  readonly latestActivity: number;
  /** What the row adds to the digest (SY8); 0 when it is not listed. */
  readonly digest: number;
}

/** Sums over the listed rows (CN3, SY8). */
export interface Sums {
  total: number;
  badge: number;
  mentions: number;
  digest: number;
}

export interface UserState {
  readonly user: string;
  readonly epoch: string;
  syncVersion: number;
  /** Cursors below it need a snapshot: tombstones up to it were dropped. */
  tombstoneFloor: number;
  /** Rows that are gone and whose tombstone is kept. */
  tombstones: number;
  /** Every conversation that the user is or was a member of, as far as known. */
  readonly rows: Map<string, StateRow>;
  readonly sums: Sums;
}

export interface Offered {
  /** Null: nothing visible changed, no version was given (SY9). */
  readonly change: Change | null;
  /** Conversations whose row the revs cannot decide; each once. */
  readonly derive: readonly string[];
}

/** The change set of a build is the first of its epoch (SY1). */
export const FIRST_VERSION = 1;
/** Tombstones that a user's state keeps at most; above it the oldest are dropped, down to three quarters. */
export const TOMBSTONES_MAX = 1000;

const NOTHING: readonly string[] = [];

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type RowBefore = StateRow | undefined;

/** The state of a user built from nothing: all visible rows at the first version of the epoch (SY1). */
export function buildUserState(user: string, epoch: string, rows: readonly DerivedRow[]): UserState {
  const state: UserState = {
    user,
    epoch,
    syncVersion: FIRST_VERSION,
    tombstoneFloor: FIRST_VERSION,
    tombstones: 0,
    rows: new Map(),
    sums: { total: 0, badge: 0, mentions: 0, digest: 0 },
  };
  for (const row of rows) {
    const held = firstHeld(row);
    state.rows.set(row.conv, held);
    if (listingOf(held) !== 'gone') commitRow(state, undefined, held);
  }
  assertTotal(state);
  return state;
}

/** Applies a change set whole, as one version, or as none when nothing visible differs (SY1, SY9). */
export function offer(state: UserState, call: StateCall): Offered {
  const before = new Map<string, RowBefore>();
  let derive: string[] | null = null;
  const repair = call.repairAt?.epoch === state.epoch && call.repairAt.syncVersion === state.syncVersion;
  for (const row of call.rows) {
    if (!takeRow(state, row, repair, before)) derive = withConv(derive, row.conv);
  }
  for (const part of call.parts) {
    if (!takePart(state, part, before)) derive = withConv(derive, part.conv);
  }
  return { change: commit(state, call, before), derive: derive ?? NOTHING };
}

export function headOf(state: UserState): StateHead {
  const { epoch, syncVersion, sums } = state;
  return {
    epoch,
    syncVersion,
    total: sums.total,
    badge: sums.badge,
    mentions: sums.mentions,
    digest: formatDigest(sums.digest),
  };
}

/** Rows whose version is above `sinceVersion`, tombstones included (SY2); without it all rows held. In no order. */
export function rowsSince(state: UserState, sinceVersion?: number): StateRow[] {
  if (sinceVersion === undefined) return [...state.rows.values()];
  const rows: StateRow[] = [];
  if (sinceVersion >= state.syncVersion) return rows;
  for (const row of state.rows.values()) if (row.version > sinceVersion) rows.push(row);
  return rows;
}

/** CN8: the large conversations that the user is a member of. */
export function largeOf(state: UserState): string[] {
  const large: string[] = [];
  for (const row of state.rows.values()) if (row.large && row.member) large.push(row.conv);
  return large;
}

/** CN8: which of these conversations have moved on since their row was derived, as far as `knownRev` tells; unknown counts as moved. */
export function movedOn(
  state: { readonly rows: ReadonlyMap<string, DerivedRow> },
  convs: readonly string[],
  knownRev: (conv: string) => number | undefined,
): string[] {
  return convs.filter((conv) => (knownRev(conv) ?? Infinity) > (state.rows.get(conv)?.convRev ?? -1));
}

/** The sums counted anew from all rows; equal to `state.sums` at any time. */
export function recount(state: UserState): Sums {
  const sums: Sums = { total: 0, badge: 0, mentions: 0, digest: 0 };
  for (const row of state.rows.values()) {
    if (listingOf(row) !== 'listed') continue;
    const unread = reportedUnread(row);
    sums.total += unread;
    sums.badge += row.muted ? row.mentions : unread;
    sums.mentions += row.mentions;
    sums.digest = addDigest(sums.digest, rowDigest(toWireRow(row)));
  }
  return sums;
}

// ------------------------------------------------------------------------------------------------------- what is stored

/** False: the revs cross, the row must be derived anew. */
function takeRow(state: UserState, row: DerivedRow, repair: boolean, before: Map<string, RowBefore>): boolean {
  const held = state.rows.get(row.conv);
  if (held === undefined) {
    put(state, undefined, firstHeld(row), before);
    return true;
  }
  const conv = row.convRev - held.convRev;
  const member = row.memberRev - held.memberRev;
  if ((conv > 0 && member < 0) || (conv < 0 && member > 0)) return false;
  const newer = conv > 0 || member > 0;
  const same = conv === 0 && member === 0;
  if (newer || (same && repair)) put(state, held, nextHeld(held, row), before);
  return true;
}

/** False: the part does not follow directly on the held row, which must be derived anew. */
function takePart(state: UserState, part: ConversationPart, before: Map<string, RowBefore>): boolean {
  const held = state.rows.get(part.conv);
  if (held === undefined) return false;
  if (held.convRev >= part.toRev || (part.unlessLarge === true && held.large)) return true;
  if (held.convRev !== part.fromRev) return false;
  const next: Mutable<StateRow> = { ...held };
  next.convRev = part.toRev;
  next.headSeq = part.headSeq;
  next.latestActivity = part.activity;
  if (held.member) {
    const { unread, mentions, brings } = tallyPart(part, state.user);
    next.unread += unread;
    next.mentions += mentions;
    next.othersEver += unread;
    if (brings) next.hidden = next.away = false;
  }
  put(state, held, next, before);
  return true;
}

function put(state: UserState, held: RowBefore, next: StateRow, before: Map<string, RowBefore>): void {
  if (!before.has(next.conv)) before.set(next.conv, held);
  state.rows.set(next.conv, next);
}

/** A row seen for the first time: of version 0 until something of it is visible. */
function firstHeld(row: DerivedRow): StateRow {
  return { ...row, version: 0, latestActivity: row.activity, digest: 0 };
}

/** The new row in the clothes of the held one, until `commit` finds a visible difference. */
function nextHeld(held: StateRow, row: DerivedRow): StateRow {
  return { ...row, version: held.version, activity: held.activity, latestActivity: row.activity, digest: held.digest };
}

function withConv(derive: string[] | null, conv: string): string[] {
  if (derive === null) return [conv];
  if (!derive.includes(conv)) derive.push(conv);
  return derive;
}

// ---------------------------------------------------------------------------------------------------- what becomes visible

/** Compares every row that was put with what it was before the call, and gives the differing ones one version. */
function commit(state: UserState, call: StateCall, before: ReadonlyMap<string, RowBefore>): Change | null {
  const baseVersion = state.syncVersion;
  let rows: Row[] | null = null;
  for (const [conv, old] of before) {
    // Only rows put by this call are in `before`: they are not in anybody's hands yet.
    const row = state.rows.get(conv) as Mutable<StateRow>;
    if (old === undefined ? listingOf(row) === 'gone' : looksSame(old, row)) continue;
    if (rows === null) {
      rows = [];
      state.syncVersion = baseVersion + 1;
    }
    rows.push(commitRow(state, old, row));
  }
  if (rows === null) return null;
  if (state.tombstones > TOMBSTONES_MAX) dropOldTombstones(state);
  const { epoch, syncVersion, user, sums } = state;
  return {
    user,
    epoch,
    baseVersion,
    syncVersion,
    op: call.op,
    rows,
    total: sums.total,
    badge: sums.badge,
    mentions: sums.mentions,
    digest: formatDigest(sums.digest),
  };
}

/** Gives the row the present version and moves sums and digest by its difference (CN3, SY8). `row` is changed in place. */
function commitRow(state: UserState, old: RowBefore, row: Mutable<StateRow>): Row {
  const { sums } = state;
  row.version = state.syncVersion;
  row.activity = row.latestActivity;
  if (old !== undefined) {
    const listing = listingOf(old);
    if (listing === 'listed') {
      const unread = reportedUnread(old);
      sums.total -= unread;
      sums.badge -= old.muted ? old.mentions : unread;
      sums.mentions -= old.mentions;
      sums.digest = subtractDigest(sums.digest, old.digest);
    } else if (listing === 'gone' && old.version > 0) state.tombstones--;
  }
  const wire = toWireRow(row);
  const listing = listingOf(row);
  if (listing === 'listed') {
    sums.total += wire.unread;
    sums.badge += row.muted ? row.mentions : wire.unread;
    sums.mentions += row.mentions;
    row.digest = rowDigest(wire);
    sums.digest = addDigest(sums.digest, row.digest);
  } else {
    row.digest = 0;
    if (listing === 'gone') state.tombstones++;
  }
  return wire;
}

/**
 * LC2, SY2: a dropped tombstone leaves every delta, and cursors below its version get a snapshot. The row itself stays, as one that was
 * never visible (version 0): its revs still keep an older row from bringing the conversation back. Truth keeps every membership
 * for the same reason, so the rows held are never more than those that truth has of the user.
 */
function dropOldTombstones(state: UserState): void {
  const kept = [...state.rows.values()].filter((row) => row.version > 0 && listingOf(row) === 'gone');
  kept.sort((a, b) => a.version - b.version);
  const floor = kept[Math.ceil(TOMBSTONES_MAX / 4) - 1]?.version ?? state.syncVersion;
  for (const row of kept) {
    if (row.version > floor) break;
    state.rows.set(row.conv, { ...row, version: 0 });
    state.tombstones--;
  }
  state.tombstoneFloor = floor;
}

function assertTotal(state: UserState): void {
  let total = 0;
  for (const row of state.rows.values()) if (listingOf(row) === 'listed') total += reportedUnread(row);
  if (total !== state.sums.total)
    throw new Error(`state of a user: total ${state.sums.total} is not the sum ${total} of its rows`);
}
