import type { Conversation } from '../../core/facts.ts';
import type { ConvSeq, ConvUser, FactRequest, Facts, MessageDetails, Place } from '../../ports.ts';
import { factsOf, keyOf } from '../found-facts.ts';
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
  type Values,
} from '../records.ts';
import { Bulk } from './bulk.ts';
import { byBytes, byUserConv } from './byte-order.ts';
import { RESERVED_AT, RESERVED_REV, type Reservations } from './reservations.ts';
import type { Session } from './session.ts';

// Each names its index: a plan that walks over a small table instead would wait for rows that are none of its business.
const EVENTS = select(EVENT_COLUMNS, 'events', 'PRIMARY', 'event_id');
const CONVERSATIONS = select(CONVERSATION_COLUMNS, 'conversations', 'PRIMARY', 'conv');
const CONVERSATIONS_LOCKED = select(CONVERSATION_COLUMNS, 'conversations', 'PRIMARY', 'conv', 'FOR UPDATE');
const MEMBERSHIPS = select(MEMBERSHIP_COLUMNS, 'memberships', 'PRIMARY', '(user, conv)', 'FOR UPDATE');
const MESSAGES_BY_ID = select(MESSAGE_COLUMNS, 'messages', 'messages_by_id', '(conv, message_id)');
const MESSAGES_BY_SEQ = select(MESSAGE_COLUMNS, 'messages', 'PRIMARY', '(conv, seq)');
const ORDS = select(['conv', 'seq', 'ord'], 'messages', 'PRIMARY', '(conv, seq)');
const PARKED = select(PARKED_COLUMNS, 'parked', 'PRIMARY', '(conv, message_id)');
const ADJUSTMENTS = select(ADJUSTMENT_COLUMNS, 'adjustments', 'PRIMARY', '(conv, seq)');
const MENTIONS = select(['conv', 'seq', 'user'], 'mentions', 'mentions_by_message', '(conv, seq)');

/** One column a thing: a seek each, in one round trip for many. */
const COLUMNS_MAX = 64;
const PARKING = new Bulk(
  'EXISTS (SELECT 1 FROM parked FORCE INDEX (PRIMARY) WHERE conv = ?)',
  (columns) => `SELECT ${columns}`,
  { rowsMax: COLUMNS_MAX },
);
const PLACES = new Bulk(
  '(SELECT ord FROM messages FORCE INDEX (PRIMARY) WHERE conv = ? AND seq <= ? ORDER BY seq DESC LIMIT 1)',
  (columns) => `SELECT ${columns}`,
  { rowsMax: COLUMNS_MAX },
);
const OWN_PLACES = new Bulk(
  `(SELECT own_ord FROM messages FORCE INDEX (messages_by_sender)
    WHERE conv = ? AND sender = ? AND seq <= ? ORDER BY seq DESC LIMIT 1)`,
  (columns) => `SELECT ${columns}`,
  { rowsMax: COLUMNS_MAX },
);

/**
 * Looks up everything asked for, many things a statement: their number depends on the length of the request alone. Locks are taken in
 * one order by everybody: event ids, conversations, memberships, each sorted as the server sorts (ARCHITECTURE, truth and state).
 */
export async function loadFacts(session: Session, request: FactRequest, reservations: Reservations): Promise<Facts> {
  const { lockConversations = false } = request;
  const events = await loadEvents(session, request.eventIds ?? [], reservations);
  const convs = [...new Set(request.conversations)].toSorted(byBytes);
  const locked = lockConversations ? await lockedConversations(session, convs, reservations) : null;
  const memberships = wanted(request.memberships, ({ conv, user }) => keyOf(conv, user));
  await find(session, MEMBERSHIPS, memberships, {
    row: ({ user, conv }) => [user, conv],
    order: byUserConv,
    read: readMembership,
    key: ({ conv, user }) => keyOf(conv, user),
  });
  // Without a lock they are read after the memberships, so that they are not older than those.
  const conversations = locked ?? (await readConversations(session, CONVERSATIONS, convs));
  const byId = wanted(request.messagesById, ({ conv, messageId }) => keyOf(conv, messageId));
  await find(session, MESSAGES_BY_ID, byId, {
    row: ({ conv, messageId }) => [conv, messageId],
    read: readMessage,
    key: ({ conv, messageId }) => keyOf(conv, messageId),
  });
  const bySeq = wanted(request.messagesBySeq, ({ conv, seq }) => keyOf(conv, seq));
  await find(session, MESSAGES_BY_SEQ, bySeq, {
    row: rowOfSeq,
    read: readMessage,
    key: ({ conv, seq }) => keyOf(conv, seq),
  });
  const parked = wanted(request.parked, ({ conv, messageId }) => keyOf(conv, messageId));
  const parking = await parkingConversations(session, request.parked ?? []);
  const maybe = { ...parked, items: parked.items.filter(({ conv }) => parking.has(conv)) };
  await find(session, PARKED, maybe, {
    row: ({ conv, messageId }) => [conv, messageId],
    read: readParked,
    key: ({ conv, messageId }) => keyOf(conv, messageId),
  });
  return factsOf({
    events,
    conversations,
    memberships: memberships.found,
    byId: byId.found,
    bySeq: bySeq.found,
    parked: parked.found,
    places: await loadPlaces(session, request.places ?? []),
    ownPlaces: await loadOwnPlaces(session, request.ownPlaces ?? []),
    details: await loadDetails(session, request.details ?? []),
  });
}

async function loadEvents(session: Session, ids: readonly string[], reservations: Reservations) {
  const eventIds = [...new Set(ids)].toSorted(byBytes);
  const found = new Map(eventIds.map((eventId) => [eventId, null as ReturnType<typeof readEvent> | null]));
  if (eventIds.length === 0) return found;
  if (await reservations.events(session, eventIds)) return found;
  for (const row of await EVENTS.all(session, rowsOfIds(eventIds))) {
    const event = readEvent(row);
    if (event.acceptedAt !== RESERVED_AT) found.set(event.eventId, event);
  }
  return found;
}

/** Most exist, and are locked by being read. Those that do not are made, and then others may have been faster. */
async function lockedConversations(session: Session, convs: readonly string[], reservations: Reservations) {
  const found = await readConversations(session, CONVERSATIONS_LOCKED, convs);
  const missing = convs.filter((conv) => found.get(conv) === null);
  if (missing.length === 0) return found;
  await reservations.conversations(session, missing);
  for (const [conv, conversation] of await readConversations(session, CONVERSATIONS, missing))
    found.set(conv, conversation);
  return found;
}

/** Next to none have something parked: one look a conversation spares one a message. */
async function parkingConversations(
  session: Session,
  wantedParked: readonly { readonly conv: string }[],
): Promise<Set<string>> {
  const convs = [...new Set(wantedParked.map(({ conv }) => conv))];
  const answers = (await PARKING.all(session, rowsOfIds(convs))).flat();
  return new Set(convs.filter((_, i) => answers[i] === 1));
}

async function readConversations(session: Session, statement: Bulk, convs: readonly string[]) {
  const found = new Map(convs.map((conv) => [conv, null as Conversation | null]));
  for (const row of await statement.all(session, rowsOfIds(convs))) {
    const conversation = readConversation(row);
    if (conversation.rev !== RESERVED_REV) found.set(conversation.conv, conversation);
  }
  return found;
}

/** Nearly every place is that of a message, and found like one; only what lies in a hole has to be looked for from there. */
async function loadPlaces(session: Session, places: readonly ConvSeq[]): Promise<Map<string, Place>> {
  const { items } = wanted(places, ({ conv, seq }) => keyOf(conv, seq));
  const rows = await ORDS.all(session, items.map(rowOfSeq));
  const ords = new Map(rows.map(([conv, seq, ord]) => [keyOf(conv as string, seq as number), ord as number]));
  const holes = items.filter(({ conv, seq }) => !ords.has(keyOf(conv, seq)));
  const below = (await PLACES.all(session, holes.map(rowOfSeq))).flat();
  holes.forEach(({ conv, seq }, i) => ords.set(keyOf(conv, seq), Number(below[i] ?? 0)));
  return new Map(items.map(({ conv, seq }) => [keyOf(conv, seq), { seq, ord: ords.get(keyOf(conv, seq)) ?? 0 }]));
}

async function loadOwnPlaces(session: Session, places: readonly (ConvSeq & ConvUser)[]): Promise<Map<string, number>> {
  const { items } = wanted(places, ({ conv, user, seq }) => keyOf(conv, user, seq));
  const rows = items.map(({ conv, user, seq }) => [conv, user, seq]);
  const ords = (await OWN_PLACES.all(session, rows)).flat();
  return new Map(items.map(({ conv, user, seq }, i) => [keyOf(conv, user, seq), Number(ords[i] ?? 0)]));
}

async function loadDetails(session: Session, details: readonly ConvSeq[]): Promise<Map<string, MessageDetails>> {
  const { items } = wanted(details, ({ conv, seq }) => keyOf(conv, seq));
  const mentions = new Map<string, string[]>(items.map(({ conv, seq }) => [keyOf(conv, seq), []]));
  const adjustments = new Map<string, MessageDetails['adjustment']>();
  for (const row of await ADJUSTMENTS.all(session, items.map(rowOfSeq))) {
    const adjustment = readAdjustment(row);
    adjustments.set(keyOf(adjustment.conv, adjustment.seq), adjustment);
  }
  for (const [conv, seq, user] of await MENTIONS.all(session, items.map(rowOfSeq))) {
    mentions.get(keyOf(conv as string, seq as number))?.push(user as string);
  }
  return new Map(
    [...mentions].map(([key, users]) => [key, { adjustment: adjustments.get(key) ?? null, mentions: users }]),
  );
}

interface Wanted<T, Found> {
  /** Each once, in the order asked. */
  readonly items: readonly T[];
  readonly found: Map<string, Found | null>;
}

function wanted<T, Found = never>(list: readonly T[] | undefined, key: (item: T) => string): Wanted<T, Found> {
  const items = new Map((list ?? []).map((item) => [key(item), item]));
  return { items: [...items.values()], found: new Map([...items.keys()].map((one) => [one, null])) };
}

interface Finding<T, Found> {
  readonly row: (item: T) => Values;
  readonly order?: (a: T, b: T) => number;
  readonly read: (row: Values) => Found;
  readonly key: (found: Found) => string;
}

async function find<T, Found>(
  session: Session,
  statement: Bulk,
  { items, found }: Wanted<T, Found>,
  { row, order, read, key }: Finding<T, Found>,
): Promise<void> {
  const sorted = order === undefined ? items : items.toSorted(order);
  for (const one of await statement.all(session, sorted.map(row))) {
    const record = read(one);
    found.set(key(record), record);
  }
}

function select(columns: readonly string[], table: string, index: string, key: string, lock = ''): Bulk {
  const row = key.startsWith('(') ? '(?, ?)' : '?';
  const text = `SELECT ${columns.join(', ')} FROM ${table} FORCE INDEX (${index}) WHERE ${key} IN`;
  return new Bulk(row, (rows) => `${text} (${rows}) ${lock}`);
}

function rowsOfIds(ids: readonly string[]): Values[] {
  return ids.map((id) => [id]);
}

function rowOfSeq({ conv, seq }: ConvSeq): Values {
  return [conv, seq];
}
