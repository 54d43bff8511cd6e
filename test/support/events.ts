import type {
  ConversationCreated,
  ConversationDissolved,
  ConversationPurged,
  MemberJoined,
  MemberLeft,
  MessageCreated,
  MessageEdited,
  MessageRecalled,
} from '../../protocol/index.ts';

/** Events as a message service sends them; of conversation c1 where nothing else is said. */
export function created(members: string[], more: Partial<ConversationCreated> = {}): ConversationCreated {
  return { type: 'conversation.created', conv: 'c1', members, ...more };
}

export function message(id: string, sender: string, more: Partial<MessageCreated> = {}): MessageCreated {
  return { type: 'message.created', conv: 'c1', message_id: id, sender, ...more };
}

/** By message_id, or by seq where a number is given. */
export function recalled(of: string | number, more: Partial<MessageRecalled> = {}): MessageRecalled {
  return { type: 'message.recalled', conv: 'c1', ...named(of), ...more };
}

export function edited(of: string | number, more: Partial<MessageEdited> = {}): MessageEdited {
  return { type: 'message.edited', conv: 'c1', ...named(of), ...more };
}

export function joined(users: string[], more: Partial<MemberJoined> = {}): MemberJoined {
  return { type: 'member.joined', conv: 'c1', users, ...more };
}

export function left(users: string[], more: Partial<MemberLeft> = {}): MemberLeft {
  return { type: 'member.left', conv: 'c1', users, ...more };
}

export function dissolved(more: Partial<ConversationDissolved> = {}): ConversationDissolved {
  return { type: 'conversation.dissolved', conv: 'c1', ...more };
}

export function purged(upToSeq: number): ConversationPurged {
  return { type: 'conversation.purged', conv: 'c1', up_to_seq: upToSeq };
}

function named(of: string | number): { message_id: string } | { seq: number } {
  return typeof of === 'string' ? { message_id: of } : { seq: of };
}
