/**
 * A row as the store keeps it, one value of the user's hash (scripts/fragments/row.lua has the same). 41 bytes for usual numbers, so
 * that a user's hash stays in its compact form (values up to 64 bytes); larger numbers take more.
 *
 *   u32 version · counts: convRev memberRev unread mentions readEpoch othersEver · seqs: readSeq headSeq · u56 activity · u48 digest
 *   [floorSeq] [u56 latestActivity] · u16 flags and shape · u8 length of the conversation's name
 *
 * The shape stands at the end: names and rows of a whole hash, one behind the other, are read from the end.
 */
import type { DerivedRow, HeldRow } from '../../core/row.ts';
import type { StateRow } from '../../core/user-state.ts';
import { Bug } from '../../errors.ts';
import { putUint, uint24, uint32, uint56 } from './uint-bytes.ts';

const MEMBER = 1;
const MUTED = 2;
const MARKED = 4;
const HIDDEN = 8;
const AWAY = 16;
const LARGE = 32;
const HAS_FLOOR = 64;
const HAS_LATEST = 128;
const WIDE_SEQS = 256;
const WIDE_COUNTS = 512;
const U16_MAX = 0xffff;
const U24_MAX = 0xff_ffff;
const U32_MAX = 0xffff_ffff;
const ACTIVITY_AND_DIGEST_BYTES = 13;
const TRAILER_BYTES = 3;
const ROW_BYTES_MAX = 128;

const scratch = Buffer.allocUnsafe(ROW_BYTES_MAX);

export function packRow(row: StateRow): Buffer {
  if (row.version > U32_MAX) throw new Bug('a sync_version above 2^32');
  const hasFloor = row.floorSeq !== row.readSeq;
  const hasLatest = row.latestActivity !== row.activity;
  const wideSeqs = row.readSeq > U24_MAX || row.headSeq > U24_MAX || row.floorSeq > U24_MAX;
  const wideCounts =
    row.convRev > U24_MAX ||
    row.memberRev > U24_MAX ||
    row.unread > U24_MAX ||
    row.othersEver > U24_MAX ||
    row.mentions > U16_MAX ||
    row.readEpoch > 255;
  const count = wideCounts ? 7 : 3;
  const seq = wideSeqs ? 7 : 3;
  let at = putUint(scratch, 0, row.version, 4);
  at = putUint(scratch, at, row.convRev, count);
  at = putUint(scratch, at, row.memberRev, count);
  at = putUint(scratch, at, row.unread, count);
  at = putUint(scratch, at, row.mentions, wideCounts ? 7 : 2);
  at = putUint(scratch, at, row.readEpoch, wideCounts ? 7 : 1);
  at = putUint(scratch, at, row.othersEver, count);
  at = putUint(scratch, at, row.readSeq, seq);
  at = putUint(scratch, at, row.headSeq, seq);
  at = putUint(scratch, at, row.activity, 7);
  at = putUint(scratch, at, row.digest, 6);
  if (hasFloor) at = putUint(scratch, at, row.floorSeq, seq);
  if (hasLatest) at = putUint(scratch, at, row.latestActivity, 7);
  const flags =
    flagsOf(row) |
    (hasFloor ? HAS_FLOOR : 0) |
    (hasLatest ? HAS_LATEST : 0) |
    (wideSeqs ? WIDE_SEQS : 0) |
    (wideCounts ? WIDE_COUNTS : 0);
  at = putUint(scratch, at, flags, 2);
  at = putUint(scratch, at, Buffer.byteLength(row.conv), 1);
  return Buffer.from(scratch.subarray(0, at));
}

export function flagsOf(row: DerivedRow): number {
  return (
    (row.member ? MEMBER : 0) |
    (row.muted ? MUTED : 0) |
    (row.marked ? MARKED : 0) |
    (row.hidden ? HIDDEN : 0) |
    (row.away ? AWAY : 0) |
    (row.large ? LARGE : 0)
  );
}

/** Names and rows, one behind the other. In no order. */
export function unpackRows(bytes: Buffer): HeldRow[] {
  const rows: HeldRow[] = [];
  // Names are cut from one text: to make each from its bytes would take longer than the rest of its row. Such a piece may hold the
  // whole text in memory, so names that are kept on their own have to be copied.
  const text = bytes.toString('latin1');
  for (let end = bytes.length; end > 0;) {
    const start = rowStart(bytes, end);
    const nameAt = start - (bytes[end - 1] as number);
    const isAscii = !hasHighBytes(bytes, nameAt, start);
    rows.push(
      unpackRow(bytes, start, end, isAscii ? text.slice(nameAt, start) : bytes.toString('utf8', nameAt, start)),
    );
    end = nameAt;
  }
  return rows;
}

function hasHighBytes(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if ((bytes[at] as number) >= 0x80) return true;
  return false;
}

/** Where the row that ends at `end` begins; its name, as long as its last byte says, stands before it. */
export function rowStart(bytes: Buffer, end: number): number {
  return end - rowBytes(bytes, end);
}

/** The row that lies in [start, end). */
export function unpackRow(bytes: Buffer, start: number, end: number, conv: string): HeldRow {
  const flags = (bytes[end - 3] as number) | ((bytes[end - 2] as number) << 8);
  const isWide = (flags & WIDE_COUNTS) !== 0;
  const count = isWide ? uint56 : uint24;
  const seq = (flags & WIDE_SEQS) === 0 ? uint24 : uint56;
  const countBytes = isWide ? 7 : 3;
  const seqBytes = (flags & WIDE_SEQS) === 0 ? 3 : 7;
  const mentionsAt = start + 4 + 3 * countBytes;
  const readEpochAt = mentionsAt + (isWide ? 7 : 2);
  const othersAt = readEpochAt + (isWide ? 7 : 1);
  const readAt = othersAt + countBytes;
  const activityAt = readAt + 2 * seqBytes;
  const readSeq = seq(bytes, readAt);
  return {
    conv,
    version: uint32(bytes, start),
    convRev: count(bytes, start + 4),
    memberRev: count(bytes, start + 4 + countBytes),
    member: (flags & MEMBER) !== 0,
    unread: count(bytes, start + 4 + 2 * countBytes),
    mentions: isWide
      ? uint56(bytes, mentionsAt)
      : (bytes[mentionsAt] as number) | ((bytes[mentionsAt + 1] as number) << 8),
    readSeq,
    readEpoch: isWide ? uint56(bytes, readEpochAt) : (bytes[readEpochAt] as number),
    floorSeq: (flags & HAS_FLOOR) === 0 ? readSeq : seq(bytes, activityAt + ACTIVITY_AND_DIGEST_BYTES),
    headSeq: seq(bytes, readAt + seqBytes),
    muted: (flags & MUTED) !== 0,
    marked: (flags & MARKED) !== 0,
    hidden: (flags & HIDDEN) !== 0,
    away: (flags & AWAY) !== 0,
    large: (flags & LARGE) !== 0,
    activity: uint56(bytes, activityAt),
    othersEver: count(bytes, othersAt),
  };
}

/** Bytes of the row that ends at `end`, without its name. */
function rowBytes(bytes: Buffer, end: number): number {
  const flags = (bytes[end - 3] as number) | ((bytes[end - 2] as number) << 8);
  const seq = (flags & WIDE_SEQS) === 0 ? 3 : 7;
  const counts = (flags & WIDE_COUNTS) === 0 ? 15 : 42;
  const floor = (flags & HAS_FLOOR) === 0 ? 0 : seq;
  const latest = (flags & HAS_LATEST) === 0 ? 0 : 7;
  return 4 + counts + 2 * seq + ACTIVITY_AND_DIGEST_BYTES + floor + latest + TRAILER_BYTES;
}
