import type { Facts } from '../transaction-facts.ts';
import { type CommandDraft, draftOf, memberOf, unknown } from './command.ts';

export interface MarkCommand {
  readonly user: string;
  readonly conv: string;
  /** The first message that is to be unread; absent: only the flag. */
  readonly fromSeq?: number | undefined;
  readonly readEpoch?: number | undefined;
}

/**
 * AK7. "Mark unread from s" starts a new read_epoch, so that no late ack undoes it, and leaves the flag as it is. Without a seq it sets
 * the flag, and starts a new read_epoch only when it does. With another read_epoch than the row's it is a resend: stale.
 */
export function draftMark({ user, conv, fromSeq, readEpoch }: MarkCommand, facts: Facts): CommandDraft {
  const found = memberOf(facts, conv, user);
  if (found === null) return draftOf([unknown(conv)], []);
  const { conversation, before } = found;
  const after = { ...before, readEpoch: before.readEpoch + 1 };
  if (fromSeq === undefined) after.marked = true;
  // Not below join and clear, and like a read position never above the head.
  else after.readSeq = Math.max(Math.min(fromSeq - 1, conversation.headSeq), before.joinSeq, before.clearSeq);

  const resent = readEpoch !== undefined && readEpoch !== before.readEpoch;
  if (resent || (fromSeq === undefined && before.marked)) {
    return draftOf([{ conv, status: 'stale', readSeq: before.readSeq }], []);
  }
  return draftOf([{ conv, status: 'applied', readSeq: after.readSeq }], [{ conversation, before, after }]);
}
