import type { AckItem } from '../../../protocol/index.ts';
import type { ConvMessageId, ConvUser, FactRequest, Facts } from '../transaction-facts.ts';
import type { Membership } from '../facts.ts';
import {
  commandRequest,
  type CommandDraft,
  type CommandOutcome,
  draftOf,
  memberOf,
  type Revision,
  unknown,
} from './command.ts';

/** Ack items in the order received; those of many users, and several of one row, run in one transaction. */
export interface UserAck {
  readonly user: string;
  readonly item: AckItem;
}

export function ackRequest(acks: readonly UserAck[]): FactRequest {
  const pairs: ConvUser[] = acks.map(({ user, item }) => ({ conv: item.conv, user }));
  const messagesById: ConvMessageId[] = [];
  for (const { item } of acks) {
    if (item.message_id !== undefined) messagesById.push({ conv: item.conv, messageId: item.message_id });
  }
  return { ...commandRequest(pairs), messagesById };
}

/** Folds the items one by one, each upon what those before it left. One outcome an item, in order. */
export function draftAcks(acks: readonly UserAck[], facts: Facts): CommandDraft {
  const revisions = new Map<string, Revision>();
  const outcomes = acks.map(({ user, item }): CommandOutcome => {
    const seq = seqOf(item, facts);
    const key = JSON.stringify([user, item.conv]);
    const revision = revisions.get(key) ?? begin(facts, item.conv, user);
    if (revision === null || seq === null) return unknown(item.conv);
    revisions.set(key, revision);
    return ack(revision.after, revision.conversation.headSeq, seq, item.read_epoch);
  });
  return draftOf(outcomes, revisions.values());
}

function begin(facts: Facts, conv: string, user: string): Revision | null {
  const found = memberOf(facts, conv, user);
  return found && { ...found, after: { ...found.before } };
}

/** AK9: an item may name the message instead of its seq. */
function seqOf(item: AckItem, facts: Facts): number | null {
  if (item.seq !== undefined) return item.seq;
  return facts.messageById(item.conv, item.message_id ?? '')?.seq ?? null;
}

/**
 * AK1: `read_seq' = max(read_seq, min(seq, head))`. It also moves below a join or clear that is higher, where it counts nothing (DT2).
 * AK7: with another read_epoch than the row's it is stale; without one it means the current.
 */
function ack(membership: Membership, head: number, seq: number, readEpoch: number | undefined): CommandOutcome {
  const { conv } = membership;
  if (readEpoch !== undefined && readEpoch !== membership.readEpoch) {
    return { conv, status: 'stale', readSeq: membership.readSeq };
  }
  const target = Math.min(seq, head);
  // AK7: any applied ack clears `marked`, and so does a stale one at the head.
  if (target > membership.readSeq || target === head) membership.marked = false;
  // AK2: lower or equal.
  if (target <= membership.readSeq) return { conv, status: 'stale', readSeq: membership.readSeq };
  membership.readSeq = target;
  return { conv, status: seq > head ? 'clamped' : 'applied', readSeq: target };
}
