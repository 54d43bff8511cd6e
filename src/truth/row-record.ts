import type { Conversation, Membership, RowFacts } from '../core/facts.ts';
import { CONVERSATION_COLUMNS, MEMBERSHIP_COLUMNS, readConversation, readMembership, type Values } from './records.ts';

const MEMBERSHIP_AT = CONVERSATION_COLUMNS.length;
const SUMS_AT = MEMBERSHIP_AT + MEMBERSHIP_COLUMNS.length;

/** The columns of a conversation, those of a membership, then the sums in the order of the fields of RowFacts. */
export function readRowFacts(row: Values): RowFacts {
  return {
    conversation: readConversation(row),
    membership: readMembership(row, MEMBERSHIP_AT),
    purgeOwn: (row[SUMS_AT] ?? 0) as number,
    adjustByOthers: (row[SUMS_AT + 1] ?? 0) as number,
    namedMentions: row[SUMS_AT + 2] as number,
    allMentions: row[SUMS_AT + 3] as number,
    lateSinceHidden: row[SUMS_AT + 4] === 1,
    lateSinceAway: row[SUMS_AT + 5] === 1,
  };
}

/** Somebody who never was a member: nothing counts, whatever the conversation holds. */
export function withoutMembership(conversation: Conversation, user: string): RowFacts {
  const membership: Membership = {
    user,
    conv: conversation.conv,
    member: false,
    joinSeq: 0,
    readSeq: 0,
    readEpoch: 0,
    clearSeq: 0,
    floorSeq: 0,
    floorOrd: 0,
    floorOwn: 0,
    ownOrd: 0,
    hiddenOrd: -1,
    hiddenLate: 0,
    awayOrd: -1,
    awayLate: 0,
    muted: false,
    marked: false,
    memberVersion: -1,
    rev: 0,
  };
  return {
    conversation,
    membership,
    purgeOwn: 0,
    adjustByOthers: 0,
    namedMentions: 0,
    allMentions: 0,
    lateSinceHidden: false,
    lateSinceAway: false,
  };
}
