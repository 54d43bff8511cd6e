import { limits } from '../../protocol/index.ts';
import type { Delta } from '../../protocol/index.ts';
import type { StateHead } from './change-set.ts';
import { toWireRow } from './row.ts';
import type { HeldRow } from './row.ts';
import { FRAME_ROWS_BYTES_MAX, rowBytesMax } from './row-bytes.ts';

/**
 * SY7: the way from an older version to the present one, in as many deltas as it takes. They are cut between row versions, ascending,
 * and each carries the totals of the end. A version is never cut: one that alone is larger than a frame goes out as it is.
 */
export interface CatchUpCourse {
  /** Where it ends. */
  readonly head: StateHead;
  readonly baseVersion: number;
  /** By version, ascending. */
  readonly rows: readonly HeldRow[];
  readonly from: number;
  /** A frame with so many rows ends at the next border between versions. */
  readonly frameRowsMax: number;
}

/** A single version with more rows is not sent as a delta: a client that cannot take such a frame would be sent it again for ever. */
export const VERSION_ROWS_MAX = 1000;

/**
 * Null: only a snapshot helps, since there is no row above the base though the version says so, or one version is too large.
 * Rows at or below the base are left out.
 */
export function beginCatchUp(
  rows: readonly HeldRow[],
  baseVersion: number,
  at: StateHead,
  frameRowsMax: number = limits.pageRowsDefault,
): CatchUpCourse | null {
  const { epoch, syncVersion, total, badge, mentions, digest } = at;
  const newer = rows.filter((row) => row.version > baseVersion).toSorted((a, b) => a.version - b.version);
  if (newer.length === 0 || hasLargeVersion(newer)) return null;
  return {
    head: { epoch, syncVersion, total, badge, mentions, digest },
    baseVersion,
    rows: newer,
    from: 0,
    frameRowsMax,
  };
}

/** The next delta and the rest of the way; null: that was the last. */
export function nextDelta(course: CatchUpCourse): { frame: Delta; rest: CatchUpCourse | null } {
  const { head, baseVersion, rows, from, frameRowsMax } = course;
  const wire: Delta['rows'] = [];
  /** Rows and end of the last whole version that fits. */
  let fits = 0;
  let end = baseVersion;
  let bytes = 0;
  let version = rows[from]?.version;
  for (let i = from; i < rows.length; i++) {
    const held = rows[i] as HeldRow;
    if (held.version !== version) {
      fits = wire.length;
      end = version ?? end;
      version = held.version;
    }
    const row = toWireRow(held);
    bytes += rowBytesMax(row);
    if (fits > 0 && (bytes > FRAME_ROWS_BYTES_MAX || wire.length >= frameRowsMax))
      return cut(course, wire.slice(0, fits), end);
    wire.push(row);
  }
  return cut(course, wire, head.syncVersion);
}

function cut(course: CatchUpCourse, wire: Delta['rows'], end: number): { frame: Delta; rest: CatchUpCourse | null } {
  const { head, baseVersion, rows, from } = course;
  const { epoch, total, badge, mentions, digest } = head;
  const sums = { total, badge, mentions, digest };
  const frame: Delta = {
    t: 'delta',
    epoch,
    base_version: baseVersion,
    sync_version: end,
    rows: wire,
    op: 'merged',
    ...sums,
  };
  const at = from + wire.length;
  return { frame, rest: at < rows.length ? { ...course, baseVersion: end, from: at } : null };
}

/** `rows` by version: is one version shared by more rows than a delta may have? */
function hasLargeVersion(rows: readonly HeldRow[]): boolean {
  for (let i = VERSION_ROWS_MAX; i < rows.length; i++) {
    if (rows[i]?.version === rows[i - VERSION_ROWS_MAX]?.version) return true;
  }
  return false;
}
