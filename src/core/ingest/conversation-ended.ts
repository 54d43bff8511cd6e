import type { ConversationDissolved, ConversationPurged, EventResult } from '../../../protocol/index.ts';
import { ACCEPTED, unknownConversation } from './result.ts';
import type { WorkingSet } from './working-set.ts';

/** LC2: gone for all, for good. Once more is without effect. */
export function conversationDissolved(event: ConversationDissolved, work: WorkingSet): EventResult {
  const draft = work.conversation(event.conv);
  if (draft === null) return unknownConversation(event.conv);
  if (draft.conversation.dissolved) return ACCEPTED;
  draft.conversation.dissolved = true;
  draft.noteAll('leave');
  return ACCEPTED;
}

/** LC6. Only ever rises; above the head it is clamped, so that no message that is still to come is purged. */
export function conversationPurged(event: ConversationPurged, work: WorkingSet): EventResult {
  const draft = work.conversation(event.conv);
  if (draft === null) return unknownConversation(event.conv);
  const { conversation, messages } = draft;
  const upTo = Math.min(event.up_to_seq, conversation.headSeq);
  if (conversation.dissolved || upTo <= conversation.purgeSeq) return ACCEPTED;
  conversation.purgeSeq = upTo;
  conversation.purgeOrd = messages.ordAt(upTo);
  draft.noteAll('clear');
  return ACCEPTED;
}
