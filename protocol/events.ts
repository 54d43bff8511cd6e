// Events of a message service (SPEC §12), told apart by `type`. A refused event names its field and changes nothing.
import type { ErrorCode } from './error-codes.ts';
import { count, id, messageSeq } from './ids.ts';
import { limits } from './limits.ts';
import { array, boolean, exactlyOneOf, isObject, literal, object, optional } from './schema.ts';
import type { Infer, Schema } from './schema.ts';

export type ConversationCreated = Infer<typeof conversationCreated>;
export type MessageCreated = Infer<typeof messageCreated>;
export type MessageRecalled = Infer<typeof messageRecalled>;
export type MessageEdited = Infer<typeof messageEdited>;
export type MemberJoined = Infer<typeof memberJoined>;
export type MemberLeft = Infer<typeof memberLeft>;
export type ConversationDissolved = Infer<typeof conversationDissolved>;
export type ConversationPurged = Infer<typeof conversationPurged>;
export type Event =
  | ConversationCreated
  | MessageCreated
  | MessageRecalled
  | MessageEdited
  | MemberJoined
  | MemberLeft
  | ConversationDissolved
  | ConversationPurged;
export type EventType = Event['type'];
export type EventError = { code: ErrorCode; message: string; field?: string | undefined };
export type CheckedEvent = { ok: true; event: Event } | { ok: false; error: EventError };

const users = array(id, limits.eventUsersMax);
const eventId = { event_id: optional(id) };

const conversationCreated = object({
  type: literal('conversation.created'),
  ...eventId,
  conv: id,
  members: users,
});
const messageCreated = object({
  type: literal('message.created'),
  ...eventId,
  conv: id,
  message_id: id,
  sender: id,
  countable: optional(boolean),
  mentions: optional(users),
  mention_all: optional(boolean),
  sender_read: optional(boolean),
  seq: optional(messageSeq),
  members: optional(users),
  sent_at: optional(count),
});
const messageRecalled = exactlyOneOf(
  object({
    type: literal('message.recalled'),
    ...eventId,
    conv: id,
    message_id: optional(id),
    seq: optional(messageSeq),
  }),
  'message_id',
  'seq',
);
const messageEdited = exactlyOneOf(
  object({
    type: literal('message.edited'),
    ...eventId,
    conv: id,
    message_id: optional(id),
    seq: optional(messageSeq),
    mentions: optional(users),
    mention_all: optional(boolean),
    countable: optional(boolean),
  }),
  'message_id',
  'seq',
);
const memberJoined = object({
  type: literal('member.joined'),
  ...eventId,
  conv: id,
  users,
  member_version: optional(count),
});
const memberLeft = object({
  type: literal('member.left'),
  ...eventId,
  conv: id,
  users,
  member_version: optional(count),
});
const conversationDissolved = object({ type: literal('conversation.dissolved'), ...eventId, conv: id });
const conversationPurged = object({
  type: literal('conversation.purged'),
  ...eventId,
  conv: id,
  up_to_seq: count,
});

export const events = {
  'conversation.created': conversationCreated,
  'message.created': messageCreated,
  'message.recalled': messageRecalled,
  'message.edited': messageEdited,
  'member.joined': memberJoined,
  'member.left': memberLeft,
  'conversation.dissolved': conversationDissolved,
  'conversation.purged': conversationPurged,
};

export function checkEvent(value: unknown): CheckedEvent {
  if (!isObject(value)) return refuse('invalid_field', 'an event must be an object');
  const type = value['type'];
  if (typeof type !== 'string') return refuse('invalid_field', 'type must be the name of an event', 'type');
  if (!isEventType(type))
    return refuse('unknown_event', `type must be one of ${Object.keys(events).join(', ')}`, 'type');
  const schema: Schema<Event> = events[type];
  const fault = schema.fault(value);
  if (fault !== null) return refuse('invalid_field', `${fault.field} ${fault.message}`, fault.field);
  return { ok: true, event: value as Event };
}

function isEventType(type: string): type is EventType {
  return Object.hasOwn(events, type);
}

function refuse(code: ErrorCode, message: string, field?: string): CheckedEvent {
  return { ok: false, error: field === undefined ? { code, message } : { code, message, field } };
}
