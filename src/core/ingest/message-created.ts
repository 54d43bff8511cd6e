import type { EventResult, MessageCreated } from '../../../protocol/index.ts';
import type { Message } from '../facts.ts';
import type { ConversationDraft } from './conversation-draft.ts';
import { addMembers } from './membership.ts';
import { dissolved, refuse, unknownConversation } from './result.ts';
import type { WorkingSet } from './working-set.ts';

export function messageCreated(event: MessageCreated, work: WorkingSet): EventResult {
  const known = work.conversation(event.conv);
  // OR2: a known message_id answers its first seq, whatever else differs, and also after the conversation has been dissolved.
  const first = known?.messages.byId(event.message_id);
  if (first) return { ok: true, seq: first.seq, duplicate: true };

  // Nobody would see a message in a conversation without members.
  if (known === null && (event.members ?? []).length === 0) return unknownConversation(event.conv);
  if (known?.conversation.dissolved) return dissolved(event.conv);
  const head = known?.conversation.headSeq ?? 0;
  if (event.seq === undefined && head === Number.MAX_SAFE_INTEGER) {
    return refuse('seq_taken', `conv '${event.conv}' has its head at ${head}: no seq is left`, 'seq');
  }
  // OR3, DT3: a caller's own seq is used as it is, unless another message has it.
  if (event.seq !== undefined && known?.messages.bySeq(event.seq)) {
    return refuse('seq_taken', `seq ${event.seq} of conv '${event.conv}' belongs to another message`, 'seq');
  }
  const draft = known ?? work.createConversation(event.conv);
  // First, so that the message counts for those it brings in.
  addMembers(draft, event.members ?? []);
  const seq = event.seq ?? head + 1;
  if (seq > head) {
    postAtHead(draft, event, seq, work.nextActivity());
    return { ok: true, seq, duplicate: false };
  }
  insertLate(draft, event, seq);
  work.countLateInsert();
  return { ok: true, seq, duplicate: false, late: true };
}

function postAtHead(draft: ConversationDraft, event: MessageCreated, seq: number, activity: number): void {
  const { conversation, members } = draft;
  const { sender } = event;
  const { countable, recalled, mentionAll, mentions } = contentOf(draft, event);
  const counts = countable && !recalled;
  if (counts) {
    conversation.headOrd += 1;
    members.setOwnOrd(sender, members.ownOrd(sender) + 1);
  }
  conversation.headSeq = seq;
  conversation.activity = activity;
  const ordinals = { ord: conversation.headOrd, ownOrd: members.ownOrd(sender), tookOrd: counts };
  addMessage(draft, { ...identityOf(event, seq), ...ordinals, countable, recalled, mentionAll }, mentions);
  draft.noteAtHead({ seq, sender, counts, mentionAll, mentions });
  if (event.sender_read === true) readBySending(draft, sender, seq, ordinals);
}

/**
 * OR3: in place, with the ordinals of its predecessors, so that none that was given out changes; that it counts is an adjustment.
 * It is not the newest message, so it does not move the conversation up in lists.
 */
function insertLate(draft: ConversationDraft, event: MessageCreated, seq: number): void {
  const { conversation, messages, members } = draft;
  const { sender } = event;
  const { countable, recalled, mentionAll, mentions } = contentOf(draft, event);
  const ownOrd = messages.ownOrdAt(sender, seq, members.ownOrdBefore(sender));
  const ordinals = { ord: messages.ordAt(seq), ownOrd, tookOrd: false };
  const message: Message = { ...identityOf(event, seq), ...ordinals, countable, recalled, mentionAll };
  addMessage(draft, message, mentions);
  // LC6: below a purge it is gone for counting, as if it had come before.
  if (countable && !recalled && seq > conversation.purgeSeq) {
    conversation.lateCount += 1;
    messages.adjust(message, 1, conversation.lateCount);
    draft.noteAll('message');
  }
  if (event.sender_read === true) readBySending(draft, sender, seq, ordinals);
}

type Content = Pick<Message, 'countable' | 'recalled' | 'mentionAll'> & { mentions: readonly string[] };

/** DT4: with the recall and edits that came before it. CN5: what does not count mentions nobody. CN4: nor does anybody mention themselves. */
function contentOf({ messages }: ConversationDraft, event: MessageCreated): Content {
  const parked = messages.parked(event.message_id);
  if (parked !== null) messages.unpark(event.message_id);
  const countable = event.countable !== false && parked?.uncountable !== true;
  const recalled = parked?.recalled === true;
  if (!countable || recalled) return { countable, recalled, mentionAll: false, mentions: [] };
  const mentionAll = parked?.mentionAll ?? event.mention_all ?? false;
  const named = new Set(parked?.mentions ?? event.mentions ?? []);
  named.delete(event.sender);
  return { countable, recalled, mentionAll, mentions: [...named] };
}

function identityOf(event: MessageCreated, seq: number): Pick<Message, 'conv' | 'seq' | 'messageId' | 'sender'> {
  return { conv: event.conv, seq, messageId: event.message_id, sender: event.sender };
}

function addMessage({ messages }: ConversationDraft, message: Message, mentions: readonly string[]): void {
  messages.add(message);
  if (message.mentionAll || mentions.length > 0) messages.setMentions(message, mentions);
}

/** AK6: in the same transaction. A sender who is not a member has no watermark. */
function readBySending(
  draft: ConversationDraft,
  sender: string,
  seq: number,
  at: { ord: number; ownOrd: number },
): void {
  const membership = draft.members.row(sender);
  if (membership === null || !membership.member || seq <= membership.readSeq) return;
  const floor = seq > membership.floorSeq ? { floorSeq: seq, floorOrd: at.ord, floorOwn: at.ownOrd } : {};
  draft.members.revise({ ...membership, readSeq: seq, ...floor });
  draft.noteMembers('message');
}
