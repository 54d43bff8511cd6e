import { check, count, digestText, id, limits } from '../../protocol/index.ts';
import type { Schema, Snapshot } from '../../protocol/index.ts';
import type { StateHead } from './change-set.ts';
import { listingOf, toWireRow } from './row.ts';
import type { HeldRow } from './row.ts';
import { FRAME_ROWS_BYTES_MAX, rowBytesMax } from './row-bytes.ts';

/**
 * SY6: a snapshot in pages, newest conversations first. It stays at the version it began with, over pauses and reconnects: a row that
 * changed since is left out of what is still to come, since it goes out as a delta. Rows move in the order only together with their
 * version, so the place of the last row sent is all that has to be remembered, and a page token can hold it.
 */
export interface SnapshotCourse {
  readonly user: string;
  /** What every page carries, whatever has changed since. */
  readonly head: StateHead;
  /** Newest first. */
  readonly rows: readonly HeldRow[];
  /** Index of the first row that is still to come. */
  readonly from: number;
  /** Number of the next page; the first is 1. */
  readonly page: number;
}

/** Where a snapshot broke off. Its text form is stateless: any node can go on from it. */
export interface PageToken {
  readonly user: string;
  readonly head: StateHead;
  readonly page: number;
  readonly after: Place;
}

type Place = Pick<HeldRow, 'activity' | 'conv'>;

interface SnapshotSource {
  readonly user: string;
  readonly epoch: string;
  readonly syncVersion: number;
  readonly tombstoneFloor: number;
  /** All rows held. */
  readonly rows: readonly HeldRow[];
}

/** `view` must hold all rows. Hidden rows are sent too, so that a device holds the same however it was brought up to date. */
export function beginSnapshot(view: StateHead & SnapshotSource): SnapshotCourse {
  const { user, epoch, syncVersion, total, badge, mentions, digest } = view;
  const rows = view.rows.filter((row) => listingOf(row) !== 'gone').toSorted(newestFirst);
  return { user, head: { epoch, syncVersion, total, badge, mentions, digest }, rows, from: 0, page: 1 };
}

/**
 * The rest of a snapshot, or null when it cannot be gone on with: another user or epoch, a version that does not exist yet, or tombstones
 * since its version that are no longer known. `view` must hold all rows; those above the token's version go out as a delta first.
 */
export function resumeSnapshot(view: SnapshotSource, token: PageToken): SnapshotCourse | null {
  const { user, head, page, after } = token;
  if (user !== view.user) return null;
  if (head.epoch !== view.epoch || head.syncVersion > view.syncVersion || head.syncVersion < view.tombstoneFloor)
    return null;
  const rows = view.rows
    .filter((row) => row.version <= head.syncVersion && listingOf(row) !== 'gone' && newestFirst(after, row) < 0)
    .toSorted(newestFirst);
  return { user, head, rows, from: 0, page };
}

/** The next page, with as many rows as the asker and a frame take, and the rest of the way; null: that was the last page. */
export function nextPage(course: SnapshotCourse, maxRows: number): { frame: Snapshot; rest: SnapshotCourse | null } {
  const { user, head, rows, from, page } = course;
  const rowsMax = Math.max(1, Math.min(maxRows, limits.pageRowsMax));
  const wire: Snapshot['rows'] = [];
  let bytes = 0;
  let last: HeldRow | undefined;
  for (let i = from; i < rows.length && wire.length < rowsMax; i++) {
    const held = rows[i] as HeldRow;
    const row = toWireRow(held);
    bytes += rowBytesMax(row);
    if (bytes > FRAME_ROWS_BYTES_MAX && wire.length > 0) break;
    wire.push(row);
    last = held;
  }
  const { epoch, syncVersion, total, badge, mentions, digest } = head;
  const place = { t: 'snapshot', epoch, sync_version: syncVersion, page, rows: wire } as const;
  const sums = { total, badge, mentions, digest };
  const at = from + wire.length;
  if (last === undefined || at === rows.length) return { frame: { ...place, end: true, ...sums }, rest: null };
  const rest = { user, head, rows, from: at, page: page + 1 };
  const next = pageTokenText({ user, head, page: rest.page, after: { activity: last.activity, conv: last.conv } });
  return { frame: { ...place, next, end: false, ...sums }, rest };
}

/** By activity, then by conversation; the same on every node. */
export function newestFirst(a: Place, b: Place): number {
  if (a.activity !== b.activity) return b.activity - a.activity;
  return a.conv < b.conv ? -1 : Number(a.conv > b.conv);
}

// ------------------------------------------------------------------------------------------------------ the text of tokens

const TOKEN_FORM = '1';
const SEPARATOR = '.';
/** Parts before the conversation and the user, which may hold separators of their own; the last of them says where one ends. */
const FIXED_PARTS = 10;

export function pageTokenText({ user, head, page, after: { activity, conv } }: PageToken): string {
  const { epoch, syncVersion, total, badge, mentions, digest } = head;
  const fixed = [TOKEN_FORM, epoch, syncVersion, total, badge, mentions, digest, page, activity, conv.length];
  return [...fixed, conv + user].join(SEPARATOR);
}

/** Null for what is no token of this form. A token is its bearer's own claim: it is held against the state, never trusted. */
export function readPageToken(text: string): PageToken | null {
  const parts = text.split(SEPARATOR);
  const [form, epoch, ...rest] = parts;
  const digest = rest[4];
  const numbers = [...rest.slice(0, 4), ...rest.slice(5, 8)].map(numberIn);
  const [syncVersion = 0, total = 0, badge = 0, mentions = 0, page = 0, activity = 0, convLength = 0] = numbers;
  const names = parts.slice(FIXED_PARTS).join(SEPARATOR);
  const conv = names.slice(0, convLength);
  const user = names.slice(convLength);
  if (form !== TOKEN_FORM || !numbers.every((n) => holds(count, n)) || page < 1) return null;
  if (!holds(id, epoch) || !holds(digestText, digest) || !holds(id, conv) || !holds(id, user)) return null;
  return { user, head: { epoch, syncVersion, total, badge, mentions, digest }, page, after: { activity, conv } };
}

function numberIn(text: string | undefined): number {
  return text !== undefined && /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
}

function holds<T>(schema: Schema<T>, value: unknown): value is T {
  return check(schema, value).ok;
}
