import type { Message } from '../../core/facts.ts';
import { Bug } from '../../errors.ts';
import type { ConvSeq, MentionSet, OutboxTarget, Writes } from '../../ports.ts';
import { keyOf } from '../found-facts.ts';
import {
  ADJUSTMENT_COLUMNS,
  CONVERSATION_COLUMNS,
  EVENT_COLUMNS,
  MEMBERSHIP_COLUMNS,
  MESSAGE_COLUMNS,
  PARKED_COLUMNS,
  type Values,
  writeAdjustment,
  writeConversation,
  writeEvent,
  writeMembership,
  writeMessage,
  writeParked,
} from '../records.ts';
import { Bulk, insert, remove, update, upsert } from './bulk.ts';
import { byUserConv } from './byte-order.ts';
import { NOW_MS } from './clock.ts';
import type { Session } from './session.ts';

const CONVERSATIONS = upsert('conversations', 1, CONVERSATION_COLUMNS);
/** Not an upsert: a message never takes the place of another (DT3). */
const NEW_MESSAGES = insert('messages', MESSAGE_COLUMNS);
const MEMBERSHIPS = upsert('memberships', 2, MEMBERSHIP_COLUMNS);
const ADJUSTMENTS = upsert('adjustments', 2, ADJUSTMENT_COLUMNS);
/** One may name 10,000 users, and what is sent at once has a limit (max_allowed_packet). */
const PARKED_AT_ONCE = 2;
const PARKED = upsert('parked', 2, PARKED_COLUMNS, PARKED_AT_ONCE);
const UNPARKED = remove('parked', 'PRIMARY', ['conv', 'message_id']);
const EVENTS = upsert('events', 1, EVENT_COLUMNS);
const OUTBOX = insert('outbox', ['conv', 'user', 'created_at', 'touched_at'], `(?, ?, ${NOW_MS}, ${NOW_MS})`);

const MARKS = upsert('message_marks', 2, ['conv', 'seq', 'sender', 'names_all', 'off_ordinal']);
const NO_MARKS = remove('message_marks', 'PRIMARY', ['conv', 'seq']);
const KNOWN_MESSAGES = new Bulk(
  '(?, ?)',
  (rows) => `SELECT conv, seq FROM messages FORCE INDEX (PRIMARY) WHERE (conv, seq) IN (${rows})`,
);
const CHANGED_MESSAGES = update('messages', 2, ['conv', 'seq', 'countable', 'recalled', 'mention_all']);

const NO_MENTIONS = remove('mentions', 'mentions_by_message', ['conv', 'seq']);
const MENTIONS = upsert('mentions', 3, ['user', 'conv', 'seq', 'counted']);
/** CN2, CN4, CN5, CN6: which named mentions count; those under an @all are counted with the message. */
const COUNTED_MENTIONS = new Bulk(
  '(?, ?)',
  (rows) => `
    UPDATE mentions n FORCE INDEX (mentions_by_message)
    STRAIGHT_JOIN messages m FORCE INDEX (PRIMARY) ON m.conv = n.conv AND m.seq = n.seq
    SET n.counted = (m.countable = 1 AND m.recalled = 0 AND m.mention_all = 0 AND m.sender <> n.user)
    WHERE (n.conv, n.seq) IN (${rows})`,
);

/** `idStep`: how far apart the server gives out ids. Answers the ids of the outbox rows, in the order given. */
export async function storeWrites(session: Session, writes: Writes, idStep: number): Promise<number[]> {
  const { newMessages = [], changedMessages = [] } = writes;
  await CONVERSATIONS.run(session, (writes.conversations ?? []).map(writeConversation));
  await NEW_MESSAGES.runOnce(session, newMessages.map(writeMessage));
  await storeChanged(session, changedMessages);
  await storeMarks(session, newMessages, changedMessages);
  await MEMBERSHIPS.run(session, (writes.memberships ?? []).toSorted(byUserConv).map(writeMembership));
  await ADJUSTMENTS.run(session, (writes.adjustments ?? []).map(writeAdjustment));
  await storeMentions(session, writes);
  await PARKED.run(session, (writes.parked ?? []).map(writeParked));
  await UNPARKED.run(
    session,
    (writes.unparked ?? []).map(({ conv, messageId }) => [conv, messageId]),
  );
  await EVENTS.run(session, (writes.events ?? []).map(writeEvent));
  return storeOutbox(session, writes.outbox ?? [], idStep);
}

async function storeChanged(session: Session, messages: readonly Message[]): Promise<void> {
  const latest = new Map(messages.map((message) => [keyOf(message.conv, message.seq), message]));
  const rows = [...latest.values()].map(({ conv, seq, countable, recalled, mentionAll }) => {
    return [conv, seq, Number(countable), Number(recalled), Number(mentionAll)];
  });
  const known = await KNOWN_MESSAGES.all(
    session,
    rows.map(([conv = null, seq = null]) => [conv, seq]),
  );
  if (new Set(known.map(([conv, seq]) => keyOf(conv as string, seq as number))).size < rows.length) {
    throw new Bug(`of ${rows.length} messages to change, some are not there`);
  }
  await CHANGED_MESSAGES.run(session, rows);
}

async function storeMarks(session: Session, fresh: readonly Message[], changed: readonly Message[]): Promise<void> {
  const isMarked = ([, , , namesAll, offOrdinal]: Values): boolean => namesAll !== 0 || offOrdinal !== 0;
  const marked = [...fresh, ...changed].map(marksOf).filter(isMarked);
  const unmarked = changed.map(marksOf).filter((marks) => !isMarked(marks));
  await MARKS.run(session, marked);
  await NO_MARKS.run(
    session,
    unmarked.map(([conv = null, seq = null]) => [conv, seq]),
  );
}

function marksOf({ conv, seq, sender, countable, recalled, mentionAll, tookOrd }: Message): Values {
  return [conv, seq, sender, Number(mentionAll && countable && !recalled), Number(countable) - Number(tookOrd)];
}

async function storeMentions(session: Session, { mentions = [], newMessages = [], changedMessages = [] }: Writes) {
  const fresh = new Set(newMessages.map(({ conv, seq }) => keyOf(conv, seq)));
  const replaced = mentions.filter(({ conv, seq }) => !fresh.has(keyOf(conv, seq)));
  await NO_MENTIONS.run(session, replaced.map(rowOfSeq));
  await MENTIONS.run(session, mentions.flatMap(rowsOfMentions));
  const named = mentions.filter(({ users }) => users.length > 0);
  await COUNTED_MENTIONS.run(session, [...named, ...changedMessages].map(rowOfSeq));
}

function rowsOfMentions({ conv, seq, users }: MentionSet): Values[] {
  return users.map((user) => [user, conv, seq, 0]);
}

async function storeOutbox(session: Session, targets: readonly OutboxTarget[], idStep: number): Promise<number[]> {
  // A statement whose number of rows is known beforehand gets its ids in one run.
  const parts = await OUTBOX.runOnce(
    session,
    targets.map(({ conv, user }) => [conv, user]),
  );
  return parts.flatMap(({ firstId, given }) => Array.from({ length: given }, (_, i) => firstId + i * idStep));
}

function rowOfSeq({ conv, seq }: ConvSeq): Values {
  return [conv, seq];
}
