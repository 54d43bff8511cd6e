/**
 * How facts lie in columns, in every SQL store alike. The order of a list of columns is the order of its reader and writer; `at` is where the record starts
 * among the columns of a longer answer.
 */
import type { Adjustment, Conversation, EventRecord, Membership, Message, Parked } from '../core/facts.ts';

export type Value = string | number | null;
export type Values = readonly Value[];

export const CONVERSATION_COLUMNS = [
  'conv',
  'head_seq',
  'head_ord',
  'member_count',
  'rev',
  'members_rev',
  'purge_seq',
  'purge_ord',
  'late_count',
  'dissolved',
  'activity',
];

export function readConversation(row: Values, at = 0): Conversation {
  return {
    conv: row[at] as string,
    headSeq: row[at + 1] as number,
    headOrd: row[at + 2] as number,
    memberCount: row[at + 3] as number,
    rev: row[at + 4] as number,
    membersRev: row[at + 5] as number,
    purgeSeq: row[at + 6] as number,
    purgeOrd: row[at + 7] as number,
    lateCount: row[at + 8] as number,
    dissolved: row[at + 9] === 1,
    activity: row[at + 10] as number,
  };
}

export function writeConversation(c: Conversation): Value[] {
  return [
    c.conv,
    c.headSeq,
    c.headOrd,
    c.memberCount,
    c.rev,
    c.membersRev,
    c.purgeSeq,
    c.purgeOrd,
    c.lateCount,
    Number(c.dissolved),
    c.activity,
  ];
}

export const MESSAGE_COLUMNS = [
  'conv',
  'seq',
  'message_id',
  'sender',
  'ord',
  'own_ord',
  'took_ord',
  'countable',
  'recalled',
  'mention_all',
];

export function readMessage(row: Values): Message {
  return {
    conv: row[0] as string,
    seq: row[1] as number,
    messageId: row[2] as string,
    sender: row[3] as string,
    ord: row[4] as number,
    ownOrd: row[5] as number,
    tookOrd: row[6] === 1,
    countable: row[7] === 1,
    recalled: row[8] === 1,
    mentionAll: row[9] === 1,
  };
}

export function writeMessage(m: Message): Value[] {
  return [
    m.conv,
    m.seq,
    m.messageId,
    m.sender,
    m.ord,
    m.ownOrd,
    Number(m.tookOrd),
    Number(m.countable),
    Number(m.recalled),
    Number(m.mentionAll),
  ];
}

export const MEMBERSHIP_COLUMNS = [
  'user',
  'conv',
  'member',
  'join_seq',
  'read_seq',
  'read_epoch',
  'clear_seq',
  'floor_seq',
  'floor_ord',
  'floor_own',
  'own_ord',
  'hidden_ord',
  'hidden_late',
  'away_ord',
  'away_late',
  'muted',
  'marked',
  'member_version',
  'rev',
];

export function readMembership(row: Values, at = 0): Membership {
  return {
    user: row[at] as string,
    conv: row[at + 1] as string,
    member: row[at + 2] === 1,
    joinSeq: row[at + 3] as number,
    readSeq: row[at + 4] as number,
    readEpoch: row[at + 5] as number,
    clearSeq: row[at + 6] as number,
    floorSeq: row[at + 7] as number,
    floorOrd: row[at + 8] as number,
    floorOwn: row[at + 9] as number,
    ownOrd: row[at + 10] as number,
    hiddenOrd: row[at + 11] as number,
    hiddenLate: row[at + 12] as number,
    awayOrd: row[at + 13] as number,
    awayLate: row[at + 14] as number,
    muted: row[at + 15] === 1,
    marked: row[at + 16] === 1,
    memberVersion: row[at + 17] as number,
    rev: row[at + 18] as number,
  };
}

export function writeMembership(m: Membership): Value[] {
  return [
    m.user,
    m.conv,
    Number(m.member),
    m.joinSeq,
    m.readSeq,
    m.readEpoch,
    m.clearSeq,
    m.floorSeq,
    m.floorOrd,
    m.floorOwn,
    m.ownOrd,
    m.hiddenOrd,
    m.hiddenLate,
    m.awayOrd,
    m.awayLate,
    Number(m.muted),
    Number(m.marked),
    m.memberVersion,
    m.rev,
  ];
}

export const ADJUSTMENT_COLUMNS = ['conv', 'seq', 'sender', 'delta', 'late_no'];

export function readAdjustment(row: Values): Adjustment {
  return {
    conv: row[0] as string,
    seq: row[1] as number,
    sender: row[2] as string,
    delta: row[3] as -1 | 0 | 1,
    lateNo: row[4] as number,
  };
}

export function writeAdjustment(a: Adjustment): Value[] {
  return [a.conv, a.seq, a.sender, a.delta, a.lateNo];
}

export const PARKED_COLUMNS = ['conv', 'message_id', 'recalled', 'mentions', 'mention_all', 'uncountable'];

export function readParked(row: Values): Parked {
  const [conv, messageId, recalled, mentions, mentionAll, uncountable] = row;
  return {
    conv: conv as string,
    messageId: messageId as string,
    recalled: recalled === 1,
    mentions: mentions === null ? null : (JSON.parse(mentions as string) as string[]),
    mentionAll: mentionAll === null ? null : mentionAll === 1,
    uncountable: uncountable === 1,
  };
}

export function writeParked(p: Parked): Value[] {
  return [
    p.conv,
    p.messageId,
    Number(p.recalled),
    p.mentions === null ? null : JSON.stringify(p.mentions),
    p.mentionAll === null ? null : Number(p.mentionAll),
    Number(p.uncountable),
  ];
}

export const EVENT_COLUMNS = ['event_id', 'fingerprint', 'seq', 'accepted_at'];

export function readEvent(row: Values): EventRecord {
  return {
    eventId: row[0] as string,
    fingerprint: row[1] as string,
    seq: row[2] as number,
    acceptedAt: row[3] as number,
  };
}

export function writeEvent(e: EventRecord): Value[] {
  return [e.eventId, e.fingerprint, e.seq, e.acceptedAt];
}
