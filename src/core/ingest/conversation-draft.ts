import type { Op } from '../../../protocol/index.ts';
import type { ConversationPart, PlainMessage } from '../change-set.ts';
import type { Conversation } from '../facts.ts';
import type { Facts } from '../transaction-facts.ts';
import { MemberDrafts } from './member-drafts.ts';
import { MessageDrafts } from './message-drafts.ts';

/** How one conversation changed in a batch, for the fan-out. A conversation in which nothing changed has none (SY9). */
export interface ConversationChange {
  readonly conv: string;
  /** `conversations.rev` before and after the batch; 0 before the conversation came to be. */
  readonly fromRev: number;
  readonly toRev: number;
  readonly membersRev: number;
  readonly memberCount: number;
  readonly memberCountBefore: number;
  /** The kind of what changed, where all of it is of one kind; a dissolution is a `leave`, a purge a `clear`. */
  readonly op: Op;
  /** What the rows of others follow from. Null: the rows of all members have to be derived from truth. */
  readonly part: ConversationPart | null;
  /** Users whose own membership changed (joined, left, read by sending): their rows are derived from truth in any case. */
  readonly touched: readonly string[];
}

/**
 * One conversation while a batch is applied. Each event sees what those before it have done. An event that changes what some row can
 * show notes so here, and how far that reaches; this decides about `rev` and the fan-out.
 */
export class ConversationDraft {
  readonly conversation: Conversation;
  readonly messages: MessageDrafts;
  readonly members: MemberDrafts;
  readonly #before: Readonly<Conversation> | null;
  readonly #ops = new Set<Op>();
  readonly #atHead: PlainMessage[] = [];
  #concernsAll = false;

  /** `before`: as loaded; null where this batch creates it. `details` answers the second load. */
  constructor(conv: string, before: Conversation | null, facts: Facts, details: Facts | null) {
    this.#before = before;
    this.conversation = before === null ? emptyConversation(conv) : { ...before };
    this.messages = new MessageDrafts(conv, before, facts, details);
    this.members = new MemberDrafts(conv, before, facts, details);
  }

  /** A message at the head: the rows of others follow from it alone. */
  noteAtHead(message: PlainMessage): void {
    this.#ops.add('message');
    this.#atHead.push(message);
  }

  /** The change is in the membership of some users, and they are touched. */
  noteMembers(op: 'join' | 'leave' | 'message'): void {
    this.#ops.add(op);
  }

  /** Any member's row may differ now, in a way that only truth can tell. */
  noteAll(op: 'message' | 'recall' | 'edit' | 'leave' | 'clear'): void {
    this.#ops.add(op);
    this.#concernsAll = true;
  }

  /** Null: nothing that anybody can see. */
  change(): ConversationChange | null {
    const [op, ...others] = this.#ops;
    if (op === undefined) return null;
    const { conv, rev: fromRev, headSeq, activity, membersRev, memberCount } = this.conversation;
    const toRev = fromRev + 1;
    const part = { conv, fromRev, toRev, headSeq, activity, messages: this.#atHead };
    return {
      conv,
      fromRev,
      toRev,
      membersRev,
      memberCount,
      memberCountBefore: this.#before?.memberCount ?? 0,
      op: others.length === 0 ? op : 'merged',
      part: this.#concernsAll ? null : part,
      touched: this.members.touched,
    };
  }
}

function emptyConversation(conv: string): Conversation {
  return {
    conv,
    headSeq: 0,
    headOrd: 0,
    memberCount: 0,
    rev: 0,
    membersRev: 0,
    purgeSeq: 0,
    purgeOrd: 0,
    lateCount: 0,
    dissolved: false,
    activity: 0,
  };
}
