import type { AckStatus, Event } from '../../protocol/index.ts';

/**
 * The contract by definition: messages, members and nothing else, counted one by one. It shares no code with the product, knows no
 * ordinals, adjustments or revs, and so is what the product's numbers are compared with.
 */
export interface ModelRow {
  readonly member: boolean;
  readonly unread: number;
  readonly mentions: number;
  readonly readSeq: number;
  readonly readEpoch: number;
  readonly floorSeq: number;
  readonly headSeq: number;
  readonly muted: boolean;
  readonly marked: boolean;
  readonly hidden: boolean;
  readonly away: boolean;
}

interface ModelMessage {
  readonly id: string;
  readonly seq: number;
  readonly sender: string;
  countable: boolean;
  recalled: boolean;
  names: Set<string>;
  all: boolean;
}

interface ModelMember {
  joinSeq: number;
  readSeq: number;
  readEpoch: number;
  clearSeq: number;
  muted: boolean;
  marked: boolean;
  hidden: boolean;
  away: boolean;
}

/** A recall or edit that waits for its message. */
interface Early {
  recalled: boolean;
  countable: boolean;
  names: readonly string[] | undefined;
  all: boolean | undefined;
}

interface ModelConversation {
  head: number;
  purgeSeq: number;
  dissolved: boolean;
  readonly messages: Map<string, ModelMessage>;
  readonly members: Map<string, ModelMember>;
  readonly early: Map<string, Early>;
  readonly versions: Map<string, number>;
}

/** What an event answers: the code of a refusal, or what stands beside `ok`. */
export type ModelResult = string | { seq?: number; duplicate?: boolean; late?: boolean };

export class Model {
  readonly #conversations = new Map<string, ModelConversation>();
  readonly #events = new Map<string, { meaning: string; seq: number | undefined }>();

  /** `meaning`: equal for two events that say the same. */
  post(event: Event, meaning: string): ModelResult {
    const { event_id: id } = event;
    if (id === undefined) return this.#apply(event);
    const first = this.#events.get(id);
    if (first !== undefined) {
      if (first.meaning !== meaning) return 'event_id_conflict';
      return first.seq === undefined ? { duplicate: true } : { duplicate: true, seq: first.seq };
    }
    const result = this.#apply(event);
    if (typeof result !== 'string') this.#events.set(id, { meaning, seq: result.seq });
    return result;
  }

  #apply(event: Event): ModelResult {
    const found = this.#conversations.get(event.conv);
    switch (event.type) {
      case 'conversation.created':
        if (found?.dissolved) return 'conversation_dissolved';
        join(found ?? this.#create(event.conv), event.members);
        return {};
      case 'message.created':
        return this.#message(event, found);
      case 'message.recalled':
      case 'message.edited':
        return found === undefined ? 'unknown_conversation' : change(event, found);
      case 'member.joined':
        if (found === undefined) return 'unknown_conversation';
        if (found.dissolved) return 'conversation_dissolved';
        join(found, inTime(found, event.users, event.member_version));
        return {};
      case 'member.left':
        if (found === undefined) return 'unknown_conversation';
        if (found.dissolved) return {};
        for (const user of inTime(found, event.users, event.member_version)) found.members.delete(user);
        return {};
      case 'conversation.dissolved':
        if (found === undefined) return 'unknown_conversation';
        found.dissolved = true;
        return {};
      case 'conversation.purged':
        if (found === undefined) return 'unknown_conversation';
        if (!found.dissolved) found.purgeSeq = Math.max(found.purgeSeq, Math.min(event.up_to_seq, found.head));
        return {};
    }
  }

  #message(event: Event & { type: 'message.created' }, found: ModelConversation | undefined): ModelResult {
    const known = found?.messages.get(event.message_id);
    if (known) return { seq: known.seq, duplicate: true };
    if (found === undefined && !event.members?.length) return 'unknown_conversation';
    if (found?.dissolved) return 'conversation_dissolved';
    if (found && [...found.messages.values()].some(({ seq }) => seq === event.seq)) return 'seq_taken';
    if (event.seq === undefined && found?.head === Number.MAX_SAFE_INTEGER) return 'seq_taken';
    const conversation = found ?? this.#create(event.conv);
    join(conversation, event.members ?? []);
    const late = event.seq !== undefined && event.seq <= conversation.head;
    const seq = event.seq ?? conversation.head + 1;
    const early = conversation.early.get(event.message_id);
    const message: ModelMessage = {
      id: event.message_id,
      seq,
      sender: event.sender,
      countable: event.countable !== false && early?.countable !== false,
      recalled: early?.recalled === true,
      names: new Set(early?.names ?? event.mentions),
      all: early?.all ?? event.mention_all ?? false,
    };
    conversation.messages.set(message.id, message);
    conversation.head = Math.max(conversation.head, seq);
    for (const member of conversation.members.values()) {
      const counted = message.countable && !message.recalled && seq > conversation.purgeSeq;
      if (counted && seq > member.clearSeq) member.hidden = member.away = false;
    }
    const sender = conversation.members.get(event.sender);
    if (event.sender_read && sender) sender.readSeq = Math.max(sender.readSeq, seq);
    return late ? { seq, duplicate: false, late: true } : { seq, duplicate: false };
  }

  #create(conv: string): ModelConversation {
    const made: ModelConversation = {
      head: 0,
      purgeSeq: 0,
      dissolved: false,
      messages: new Map(),
      members: new Map(),
      early: new Map(),
      versions: new Map(),
    };
    this.#conversations.set(conv, made);
    return made;
  }

  // ---------------------------------------------------------------------------------------------------------- commands

  /** `of`: a seq, or the message_id of one. */
  ack(user: string, conv: string, of: number | string, readEpoch?: number): AckStatus {
    const found = this.#member(user, conv);
    const seq = typeof of === 'number' ? of : found?.conversation.messages.get(of)?.seq;
    if (found === null || seq === undefined) return 'unknown';
    const { member, conversation } = found;
    if (readEpoch !== undefined && readEpoch !== member.readEpoch) return 'stale';
    const target = Math.min(seq, conversation.head);
    const moves = target > member.readSeq;
    if (moves || target === conversation.head) member.marked = false;
    if (!moves) return 'stale';
    member.readSeq = target;
    return seq > conversation.head ? 'clamped' : 'applied';
  }

  mark(user: string, conv: string, fromSeq?: number, readEpoch?: number): AckStatus {
    const found = this.#member(user, conv);
    if (found === null) return 'unknown';
    const { member, conversation } = found;
    if (readEpoch !== undefined && readEpoch !== member.readEpoch) return 'stale';
    if (fromSeq === undefined && member.marked) return 'stale';
    if (fromSeq === undefined) member.marked = true;
    else member.readSeq = Math.max(Math.min(fromSeq - 1, conversation.head), member.joinSeq, member.clearSeq);
    member.readEpoch += 1;
    return 'applied';
  }

  prefs(user: string, conv: string, { muted, hidden }: { muted?: boolean; hidden?: boolean }): 'unknown' | 'known' {
    const found = this.#member(user, conv);
    if (found === null) return 'unknown';
    if (muted !== undefined) found.member.muted = muted;
    if (hidden !== undefined) found.member.hidden = hidden;
    return 'known';
  }

  clear(user: string, conv: string, upToSeq?: number): AckStatus {
    const found = this.#member(user, conv);
    if (found === null) return 'unknown';
    const { member, conversation } = found;
    const upTo = Math.min(upToSeq ?? Infinity, conversation.head);
    if (upTo < member.clearSeq) return 'stale';
    member.clearSeq = upTo;
    if (this.row(user, conv).unread === 0) member.away = true;
    return upToSeq !== undefined && upToSeq > conversation.head ? 'clamped' : 'applied';
  }

  #member(user: string, conv: string): { conversation: ModelConversation; member: ModelMember } | null {
    const conversation = this.#conversations.get(conv);
    const member = conversation?.members.get(user);
    return conversation === undefined || member === undefined || conversation.dissolved
      ? null
      : { conversation, member };
  }

  // -------------------------------------------------------------------------------------------------------------- rows

  members(conv: string): string[] {
    return [...(this.#conversations.get(conv)?.members.keys() ?? [])];
  }

  head(conv: string): number {
    return this.#conversations.get(conv)?.head ?? 0;
  }

  row(user: string, conv: string): ModelRow {
    const found = this.#member(user, conv);
    if (found === null) return NO_ROW;
    const { conversation, member } = found;
    const floorSeq = Math.max(member.readSeq, member.joinSeq, member.clearSeq, conversation.purgeSeq);
    const unread = [...conversation.messages.values()].filter(
      ({ seq, countable, recalled, sender }) => seq > floorSeq && countable && !recalled && sender !== user,
    );
    return {
      member: true,
      unread: unread.length,
      mentions: unread.filter(({ names, all }) => all || names.has(user)).length,
      readSeq: member.readSeq,
      readEpoch: member.readEpoch,
      floorSeq,
      headSeq: conversation.head,
      muted: member.muted,
      marked: member.marked,
      hidden: member.hidden,
      away: member.away,
    };
  }
}

/** What is shown of a conversation to who is not in it. */
export const NO_ROW: ModelRow = {
  member: false,
  unread: 0,
  mentions: 0,
  readSeq: 0,
  readEpoch: 0,
  floorSeq: 0,
  headSeq: 0,
  muted: false,
  marked: false,
  hidden: false,
  away: false,
};

function join({ members, head }: ModelConversation, users: readonly string[]): void {
  for (const user of users) {
    if (members.has(user)) continue;
    members.set(user, {
      joinSeq: head,
      readSeq: 0,
      readEpoch: 0,
      clearSeq: 0,
      muted: false,
      marked: false,
      hidden: false,
      away: false,
    });
  }
}

/** Users for whom the event is not older than their last (CN9). */
function inTime({ versions }: ModelConversation, users: readonly string[], version: number | undefined): string[] {
  if (version === undefined) return [...users];
  const found = users.filter((user) => version >= (versions.get(user) ?? 0));
  for (const user of found) versions.set(user, version);
  return found;
}

function change(
  event: Event & { type: 'message.recalled' | 'message.edited' },
  { messages, early, dissolved }: ModelConversation,
): ModelResult {
  if (dissolved) return {};
  const found =
    event.seq === undefined
      ? messages.get(event.message_id ?? '')
      : [...messages.values()].find(({ seq }) => seq === event.seq);
  if (found === undefined) {
    if (event.message_id === undefined) return 'unknown_message';
    const waiting = early.get(event.message_id) ?? {
      recalled: false,
      countable: true,
      names: undefined,
      all: undefined,
    };
    early.set(event.message_id, waiting);
    if (event.type === 'message.recalled') waiting.recalled = true;
    else {
      waiting.names = event.mentions ?? waiting.names;
      waiting.all = event.mention_all ?? waiting.all;
      if (event.countable === false) waiting.countable = false;
    }
    return {};
  }
  if (event.type === 'message.recalled') found.recalled = true;
  else {
    if (event.mentions) found.names = new Set(event.mentions);
    if (event.mention_all !== undefined) found.all = event.mention_all;
    if (event.countable === false) found.countable = false;
  }
  return {};
}
