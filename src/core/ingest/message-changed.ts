import type { EventResult, MessageEdited, MessageRecalled } from '../../../protocol/index.ts';
import type { Message, Parked } from '../facts.ts';
import type { ConversationDraft } from './conversation-draft.ts';
import { ACCEPTED, refuse, unknownConversation } from './result.ts';
import type { WorkingSet } from './working-set.ts';

/** CN6. Twice is harmless; before its message arrives it is kept until then (DT4). */
export function messageRecalled(event: MessageRecalled, work: WorkingSet): EventResult {
  return withMessage(event, work, {
    change: (draft, message) => {
      if (message.recalled) return;
      const counted = counts(message);
      draft.messages.change(message, { recalled: true });
      if (counted) stopCounting(draft, message, 'recall');
    },
    park: (parked) => ({ ...parked, recalled: true }),
  });
}

/** CN7. What is left out stays; `countable:true` never makes a message count again. */
export function messageEdited(event: MessageEdited, work: WorkingSet): EventResult {
  return withMessage(event, work, {
    change: (draft, message) => edit(draft, message, event),
    park: (parked) => ({
      ...parked,
      mentions: event.mentions ?? parked.mentions,
      mentionAll: event.mention_all ?? parked.mentionAll,
      uncountable: parked.uncountable || event.countable === false,
    }),
  });
}

function edit(draft: ConversationDraft, message: Message, event: MessageEdited): void {
  // CN5: neither recalled nor uncountable messages mention anybody, and they stay what they are.
  if (!counts(message)) return;
  if (event.countable === false) {
    draft.messages.change(message, { countable: false });
    stopCounting(draft, message, 'edit');
    return;
  }
  const before = draft.messages.mentions(message);
  const named = new Set(event.mentions ?? before);
  named.delete(message.sender);
  const mentionAll = event.mention_all ?? message.mentionAll;
  const sameNames = named.size === before.length && before.every((user) => named.has(user));
  if (sameNames && mentionAll === message.mentionAll) return;
  if (mentionAll !== message.mentionAll) draft.messages.change(message, { mentionAll });
  draft.messages.setMentions(message, [...named]);
  draft.noteAll('edit');
}

function counts(message: Message): boolean {
  return message.countable && !message.recalled;
}

/** The ordinals stay; one adjustment at the message says that it does not count (any more). Its mentions go with it. */
function stopCounting(draft: ConversationDraft, message: Message, op: 'recall' | 'edit'): void {
  const lateNo = draft.messages.adjustment(message)?.lateNo ?? 0;
  draft.messages.adjust(message, message.tookOrd ? -1 : 0, lateNo);
  draft.messages.change(message, { mentionAll: false });
  draft.messages.setMentions(message, []);
  draft.noteAll(op);
}

interface Handling {
  readonly change: (draft: ConversationDraft, message: Message) => void;
  readonly park: (parked: Parked) => Parked;
}

/** DT4: by message_id an event may come before its message; by seq it cannot mean one that is not there. */
function withMessage(
  event: MessageRecalled | MessageEdited,
  work: WorkingSet,
  { change, park }: Handling,
): EventResult {
  const { conv, seq, message_id: messageId } = event;
  const draft = work.conversation(conv);
  if (draft === null) return unknownConversation(conv);
  // Nothing is left that it could change.
  if (draft.conversation.dissolved) return ACCEPTED;
  if (messageId !== undefined) {
    const message = draft.messages.byId(messageId);
    if (message !== null) change(draft, message);
    else draft.messages.park(park(draft.messages.parked(messageId) ?? nothingParked(conv, messageId)));
    return ACCEPTED;
  }
  const message = seq === undefined ? null : draft.messages.bySeq(seq);
  if (message === null) return refuse('unknown_message', `conv '${conv}' has no message with seq ${seq}`, 'seq');
  change(draft, message);
  return ACCEPTED;
}

function nothingParked(conv: string, messageId: string): Parked {
  return { conv, messageId, recalled: false, mentions: null, mentionAll: null, uncountable: false };
}
