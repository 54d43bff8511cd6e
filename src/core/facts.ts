/**
 * The facts that truth keeps. Every number that is ever shown is derived from these (ARCHITECTURE, counting: store facts, derive numbers).
 *
 * Ordinals. Beside its `seq` a message stores `ord`, how many countable messages its conversation has had up to and including it,
 * and `ownOrd`, how many of those its sender has written. Ordinals are never changed once given out; what happens to a message
 * later (recall, `countable` turned off, insertion below the head) is one row of the side table of adjustments.
 */

/** One conversation. `rev` rises in every transaction that changes it and never falls. */
export interface Conversation {
  readonly conv: string;
  headSeq: number;
  headOrd: number;
  /** Present members; decides large or small (CN8). */
  memberCount: number;
  rev: number;
  /** Rises whenever the set of members changes: the key under which a member list may be kept in memory. */
  membersRev: number;
  /** LC6: messages at or below are gone for counting. */
  purgeSeq: number;
  purgeOrd: number;
  /** How many countable messages were inserted at or below the head (OR3): they bring hidden and cleared rows back too. */
  lateCount: number;
  dissolved: boolean;
  /** Rises with every message, over all conversations of a node; orders lists newest first and decides nothing else. */
  activity: number;
}

export interface Message {
  readonly conv: string;
  readonly seq: number;
  readonly messageId: string;
  readonly sender: string;
  readonly ord: number;
  readonly ownOrd: number;
  /** Whether it took an ordinal of its own: false for the non-countable, for those inserted late, and for those recalled before they came. */
  readonly tookOrd: boolean;
  countable: boolean;
  recalled: boolean;
  mentionAll: boolean;
}

/** One user's relation to one conversation. A left membership stays (`member: false`), so that `rev` never falls (ARCHITECTURE, truth and state). */
export interface Membership {
  readonly user: string;
  readonly conv: string;
  member: boolean;
  joinSeq: number;
  readSeq: number;
  readEpoch: number;
  clearSeq: number;
  /** max(readSeq, joinSeq, clearSeq) and the two ordinals at that place; the purge floor is the conversation's. */
  floorSeq: number;
  floorOrd: number;
  floorOwn: number;
  /** The user's own countable messages in this conversation so far. */
  ownOrd: number;
  /** LC4: `headOrd` and `lateCount` when the row was hidden; -1 = not hidden. The row is hidden while nothing countable has come since. */
  hiddenOrd: number;
  hiddenLate: number;
  /** LC3: the same for a conversation cleared away. */
  awayOrd: number;
  awayLate: number;
  muted: boolean;
  marked: boolean;
  /** The highest `member_version` accepted for this member (CN9); -1 = none yet. */
  memberVersion: number;
  rev: number;
}

/** What happened to a message after its ordinals were given out: `delta` countable messages at `seq`, for everyone but `sender`. */
export interface Adjustment {
  readonly conv: string;
  readonly seq: number;
  readonly sender: string;
  delta: -1 | 0 | 1;
  /** The conversation's `lateCount` after this message was inserted late; 0 for all others. */
  readonly lateNo: number;
}

/** A recall or edit that came before its message (DT4); carried out when the message arrives. */
export interface Parked {
  readonly conv: string;
  readonly messageId: string;
  recalled: boolean;
  mentions: readonly string[] | null;
  mentionAll: boolean | null;
  uncountable: boolean;
}

/** What an `event_id` was used for (DT3, DT8). `fingerprint` = hash of the event as accepted. */
export interface EventRecord {
  readonly eventId: string;
  readonly fingerprint: string;
  /** The seq answered, for message.created; 0 otherwise. */
  readonly seq: number;
  /** Unix ms of acceptance, for trimming only. */
  readonly acceptedAt: number;
}

/** Everything that one row is derived from, read at one moment of truth. */
export interface RowFacts {
  readonly conversation: Readonly<Conversation>;
  readonly membership: Readonly<Membership>;
  /** Own countable messages with seq ≤ purgeSeq; only meaningful where the purge is the floor. */
  readonly purgeOwn: number;
  /** Sum of the adjustments above the floor whose sender is somebody else. */
  readonly adjustByOthers: number;
  /** Countable, live messages above the floor that name the user, without those under an @all. */
  readonly namedMentions: number;
  /** Countable, live @all messages above the floor by somebody else. */
  readonly allMentions: number;
  /** Whether a countable message was inserted late, above clearSeq, after the row was hidden / cleared away. */
  readonly lateSinceHidden: boolean;
  readonly lateSinceAway: boolean;
}
