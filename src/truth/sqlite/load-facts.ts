import type { FactRequest, Facts, MessageDetails, Place } from '../../ports.ts';
import { factsOf, keyOf } from '../found-facts.ts';
import { type Connection, TEXT } from './connection.ts';
import {
  ADJUSTMENT_COLUMNS,
  CONVERSATION_COLUMNS,
  EVENT_COLUMNS,
  MEMBERSHIP_COLUMNS,
  MESSAGE_COLUMNS,
  PARKED_COLUMNS,
  readAdjustment,
  readConversation,
  readEvent,
  readMembership,
  readMessage,
  readParked,
} from '../records.ts';

const EVENT = `SELECT ${EVENT_COLUMNS.join(', ')} FROM events WHERE event_id = ?`;
const CONVERSATION = `SELECT ${CONVERSATION_COLUMNS.join(', ')} FROM conversations WHERE conv = ?`;
const MEMBERSHIP = `SELECT ${MEMBERSHIP_COLUMNS.join(', ')} FROM memberships WHERE user = ? AND conv = ?`;
const MESSAGE_BY_ID = `SELECT ${MESSAGE_COLUMNS.join(', ')} FROM messages WHERE conv = ? AND message_id = ?`;
const MESSAGE_BY_SEQ = `SELECT ${MESSAGE_COLUMNS.join(', ')} FROM messages WHERE conv = ? AND seq = ?`;
const PARKED = `SELECT ${PARKED_COLUMNS.join(', ')} FROM parked WHERE conv = ? AND message_id = ?`;
const PLACE = `SELECT ord FROM messages WHERE conv = ${TEXT} AND seq <= ? ORDER BY seq DESC LIMIT 1`;
const OWN_PLACE = `
  SELECT own_ord FROM messages INDEXED BY messages_by_sender
  WHERE conv = ${TEXT} AND sender = ${TEXT} AND seq <= ? ORDER BY seq DESC LIMIT 1`;
const ADJUSTMENT = `SELECT ${ADJUSTMENT_COLUMNS.join(', ')} FROM adjustments WHERE conv = ? AND seq = ?`;
const MENTIONS = 'SELECT user FROM mentions WHERE conv = ? AND seq = ?';

/**
 * Looks up everything asked for, each thing once: statements and rows depend on the length of the request alone, never on how many
 * members or messages a conversation has. Locks need nothing here: the one writer holds the whole file.
 */
export function loadFacts(db: Connection, request: FactRequest): Facts {
  const events = lookUp(request.eventIds, ofOne, (id) => mapped(db.get(EVENT, id), readEvent));
  const conversations = lookUp(request.conversations, ofOne, (conv) =>
    mapped(db.get(CONVERSATION, conv), readConversation),
  );
  const memberships = lookUp(
    request.memberships,
    ({ conv, user }) => keyOf(conv, user),
    ({ conv, user }) => mapped(db.get(MEMBERSHIP, user, conv), readMembership),
  );
  const byId = lookUp(
    request.messagesById,
    ({ conv, messageId }) => keyOf(conv, messageId),
    ({ conv, messageId }) => mapped(db.get(MESSAGE_BY_ID, conv, messageId), readMessage),
  );
  const bySeq = lookUp(
    request.messagesBySeq,
    ({ conv, seq }) => keyOf(conv, seq),
    ({ conv, seq }) => mapped(db.get(MESSAGE_BY_SEQ, conv, seq), readMessage),
  );
  const parked = lookUp(
    request.parked,
    ({ conv, messageId }) => keyOf(conv, messageId),
    ({ conv, messageId }) => mapped(db.get(PARKED, conv, messageId), readParked),
  );
  const places = lookUp(
    request.places,
    ({ conv, seq }) => keyOf(conv, seq),
    ({ conv, seq }): Place => ({ seq, ord: (db.get(PLACE, conv, seq)?.[0] ?? 0) as number }),
  );
  const ownPlaces = lookUp(
    request.ownPlaces,
    ({ conv, user, seq }) => keyOf(conv, user, seq),
    ({ conv, user, seq }) => (db.get(OWN_PLACE, conv, user, seq)?.[0] ?? 0) as number,
  );
  const details = lookUp(
    request.details,
    ({ conv, seq }) => keyOf(conv, seq),
    ({ conv, seq }): MessageDetails => ({
      adjustment: mapped(db.get(ADJUSTMENT, conv, seq), readAdjustment),
      mentions: db.all(MENTIONS, conv, seq).map(([user]) => user as string),
    }),
  );
  return factsOf({ events, conversations, memberships, byId, bySeq, parked, places, ownPlaces, details });
}

function lookUp<T, Found>(
  wanted: readonly T[] | undefined,
  key: (item: T) => string,
  find: (item: T) => Found,
): Map<string, Found> {
  const found = new Map<string, Found>();
  for (const item of wanted ?? []) {
    const itemKey = key(item);
    if (!found.has(itemKey)) found.set(itemKey, find(item));
  }
  return found;
}

function ofOne(id: string): string {
  return id;
}

function mapped<T>(
  row: readonly (string | number | null)[] | undefined,
  read: (row: readonly (string | number | null)[]) => T,
): T | null {
  return row === undefined ? null : read(row);
}
