import type { Row } from '../../protocol/index.ts';
import { floorOf, mentionsOf, unreadOf } from './counting.ts';
import type { RowFacts } from './facts.ts';

/** CN8: reported unread never goes above this in a large conversation. */
const UNREAD_CAP = 999;

/**
 * One user's state of one conversation as derived from truth in one consistent read: absolute, without a version yet.
 * `convRev` and `memberRev` name the moment of truth it belongs to and decide the order of writes (ARCHITECTURE, truth and state).
 */
export interface DerivedRow {
  readonly conv: string;
  readonly convRev: number;
  readonly memberRev: number;
  /** Present member of a conversation that is not dissolved. */
  readonly member: boolean;
  /** Exact, uncapped. */
  readonly unread: number;
  readonly mentions: number;
  readonly readSeq: number;
  readonly readEpoch: number;
  readonly floorSeq: number;
  readonly headSeq: number;
  readonly muted: boolean;
  readonly marked: boolean;
  readonly hidden: boolean;
  /** Cleared away (LC3). */
  readonly away: boolean;
  /** More members than `group_threshold` (CN8). */
  readonly large: boolean;
  readonly activity: number;
  /** Countable messages of others that ever came at the head: tells whether something that counts came since another look. */
  readonly othersEver: number;
}

/** A row as the state holds it: with the sync_version that last changed what is visible of it (0 = never visible). */
export interface HeldRow extends DerivedRow {
  readonly version: number;
}

export type Listing = 'listed' | 'hidden' | 'gone';

/** CN3: listed = member, not hidden, not cleared away. */
export function listingOf(row: DerivedRow): Listing {
  if (!row.member || row.away) return 'gone';
  return row.hidden ? 'hidden' : 'listed';
}

/** CN8: the cap is applied last and never stored. */
export function reportedUnread(row: DerivedRow): number {
  return row.large ? Math.min(row.unread, UNREAD_CAP) : row.unread;
}

export function isCapped(row: DerivedRow): boolean {
  return row.large && row.unread > UNREAD_CAP;
}

export function deriveRow(facts: RowFacts, groupThreshold: number): DerivedRow {
  const { conversation: c, membership: m } = facts;
  return {
    conv: c.conv,
    convRev: c.rev,
    memberRev: m.rev,
    member: m.member && !c.dissolved,
    unread: unreadOf(facts),
    mentions: mentionsOf(facts),
    readSeq: m.readSeq,
    readEpoch: m.readEpoch,
    floorSeq: floorOf(facts).seq,
    headSeq: c.headSeq,
    muted: m.muted,
    marked: m.marked,
    hidden: m.hiddenOrd === c.headOrd && !facts.lateSinceHidden,
    away: m.awayOrd === c.headOrd && !facts.lateSinceAway,
    large: c.memberCount > groupThreshold,
    activity: c.activity,
    othersEver: c.headOrd - m.ownOrd,
  };
}

/**
 * SY9: whether a client that holds `held` could see a difference to `now`. Head and floor alone are no difference: they change
 * nothing that is counted, and a capped row (CN8) would otherwise send a frame for every message. But where one message came and
 * another was recalled, the same number counts other messages: a client that read up to the head it holds would not read them.
 */
export function looksSame(held: DerivedRow, now: DerivedRow): boolean {
  const listing = listingOf(held);
  if (listing !== listingOf(now)) return false;
  if (listing !== 'listed') return true;
  return sameNumbers(held, now) && (now.unread === 0 || isCapped(now) || held.othersEver === now.othersEver);
}

function sameNumbers(a: DerivedRow, b: DerivedRow): boolean {
  return (
    reportedUnread(a) === reportedUnread(b) &&
    isCapped(a) === isCapped(b) &&
    a.mentions === b.mentions &&
    a.readSeq === b.readSeq &&
    a.readEpoch === b.readEpoch &&
    a.muted === b.muted &&
    a.marked === b.marked
  );
}

/** SPEC §7, ROW. False flags and a floor that equals the watermark are left out. */
export function toWireRow(row: HeldRow): Row {
  const wire: Row = {
    conv: row.conv,
    version: row.version,
    unread: reportedUnread(row),
    mentions: row.mentions,
    read_seq: row.readSeq,
    read_epoch: row.readEpoch,
    head_seq: row.headSeq,
  };
  const listing = listingOf(row);
  if (listing === 'gone') return { ...wire, unread: 0, mentions: 0, gone: true };
  if (row.floorSeq !== row.readSeq) wire.floor_seq = row.floorSeq;
  if (row.muted) wire.muted = true;
  if (row.marked) wire.marked = true;
  if (listing === 'hidden') wire.hidden = true;
  if (isCapped(row)) wire.capped = true;
  return wire;
}
