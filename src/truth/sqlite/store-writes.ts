import { Bug } from '../../errors.ts';
import type { ConvSeq, MentionSet, Writes } from '../../ports.ts';
import type { Connection } from './connection.ts';
import {
  ADJUSTMENT_COLUMNS,
  CONVERSATION_COLUMNS,
  EVENT_COLUMNS,
  MEMBERSHIP_COLUMNS,
  MESSAGE_COLUMNS,
  PARKED_COLUMNS,
  writeAdjustment,
  writeConversation,
  writeEvent,
  writeMembership,
  writeMessage,
  writeParked,
} from '../records.ts';

const CONVERSATION = upsert('conversations', 1, CONVERSATION_COLUMNS);
/** Not an upsert: a message never takes the place of another (DT3). */
const NEW_MESSAGE = insert('messages', MESSAGE_COLUMNS);
const CHANGED_MESSAGE = 'UPDATE messages SET countable = ?, recalled = ?, mention_all = ? WHERE conv = ? AND seq = ?';
const MEMBERSHIP = upsert('memberships', 2, MEMBERSHIP_COLUMNS);
const ADJUSTMENT = upsert('adjustments', 2, ADJUSTMENT_COLUMNS);
const PARKED = upsert('parked', 2, PARKED_COLUMNS);
const UNPARKED = 'DELETE FROM parked WHERE conv = ? AND message_id = ?';
const EVENT = upsert('events', 1, EVENT_COLUMNS);
const OUTBOX = "INSERT INTO outbox (conv, user, created_at) VALUES (?, ?, CAST(unixepoch('subsec') * 1000 AS INTEGER))";

const NO_MENTIONS = 'DELETE FROM mentions WHERE conv = ? AND seq = ?';
const MENTION = 'INSERT INTO mentions (user, conv, seq, counted) VALUES (?, ?, ?, 0)';
/** CN2, CN4, CN5, CN6: which named mentions count; those under an @all are counted with the message. */
const COUNTED_MENTIONS = `
  UPDATE mentions SET counted = (
    SELECT m.countable = 1 AND m.recalled = 0 AND m.mention_all = 0 AND m.sender <> mentions.user
    FROM messages m WHERE m.conv = mentions.conv AND m.seq = mentions.seq)
  WHERE conv = ? AND seq = ?`;

/** Answers the ids of the outbox rows, in the order given. */
export function storeWrites(db: Connection, writes: Writes): number[] {
  for (const it of writes.conversations ?? []) db.run(CONVERSATION, ...writeConversation(it));
  for (const it of writes.newMessages ?? []) db.run(NEW_MESSAGE, ...writeMessage(it));
  for (const it of writes.changedMessages ?? []) {
    const flags = [Number(it.countable), Number(it.recalled), Number(it.mentionAll)];
    if (db.run(CHANGED_MESSAGE, ...flags, it.conv, it.seq) !== 1) throw new Bug(`no message ${it.seq} to change`);
  }
  for (const it of writes.memberships ?? []) db.run(MEMBERSHIP, ...writeMembership(it));
  for (const it of writes.adjustments ?? []) db.run(ADJUSTMENT, ...writeAdjustment(it));
  storeMentions(db, writes.mentions ?? [], writes.changedMessages ?? []);
  for (const it of writes.parked ?? []) db.run(PARKED, ...writeParked(it));
  for (const it of writes.unparked ?? []) db.run(UNPARKED, it.conv, it.messageId);
  for (const it of writes.events ?? []) db.run(EVENT, ...writeEvent(it));
  return (writes.outbox ?? []).map((it) => db.insert(OUTBOX, it.conv, it.user));
}

function storeMentions(db: Connection, sets: readonly MentionSet[], changedMessages: readonly ConvSeq[]): void {
  for (const { conv, seq, users } of sets) {
    db.run(NO_MENTIONS, conv, seq);
    for (const user of new Set(users)) db.run(MENTION, user, conv, seq);
  }
  for (const { conv, seq } of [...sets.filter(({ users }) => users.length > 0), ...changedMessages]) {
    db.run(COUNTED_MENTIONS, conv, seq);
  }
}

function insert(table: string, columns: readonly string[]): string {
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
}

/** Insert or replace by key; the first `keyLength` columns are the key. */
function upsert(table: string, keyLength: number, columns: readonly string[]): string {
  const key = columns.slice(0, keyLength).join(', ');
  const changes = columns.slice(keyLength).map((column) => `${column} = excluded.${column}`);
  return `${insert(table, columns)} ON CONFLICT (${key}) DO UPDATE SET ${changes.join(', ')}`;
}
