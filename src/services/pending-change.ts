import type { Op } from '../../protocol/index.ts';
import type { ConversationChange } from '../core/ingest/plan.ts';
import type { ConversationPart } from '../ports.ts';

/** What one conversation owes its members, merged from one or more committed changes. */
export interface PendingChange {
  readonly conv: string;
  readonly toRev: number;
  readonly membersRev: number;
  readonly memberCount: number;
  /** Members before the first of the merged changes. */
  readonly memberCountBefore: number;
  readonly op: Op;
  /** Null: the rows of all members must be derived. */
  readonly part: ConversationPart | null;
  readonly touched: ReadonlySet<string>;
}

/** Messages of one merged part; beyond it deriving the rows is cheaper than carrying them. */
const PART_MESSAGES_MAX = 1000;

export function mergeChanges(held: PendingChange | undefined, change: ConversationChange): PendingChange {
  if (!held) return { ...change, touched: new Set(change.touched) };
  return {
    conv: change.conv,
    toRev: Math.max(held.toRev, change.toRev),
    membersRev: Math.max(held.membersRev, change.membersRev),
    memberCount: change.toRev > held.toRev ? change.memberCount : held.memberCount,
    memberCountBefore: held.memberCountBefore,
    op: held.op === change.op ? held.op : 'merged',
    part: joinParts(held.part, change.part),
    touched: new Set([...held.touched, ...change.touched]),
  };
}

/** A merged part names the rev that the first change starts from (ARCHITECTURE, truth and state); parts that do not follow on each other are no part. */
function joinParts(first: ConversationPart | null, second: ConversationPart | null): ConversationPart | null {
  if (!first || !second || first.toRev !== second.fromRev) return null;
  const messages = [...first.messages, ...second.messages];
  return messages.length > PART_MESSAGES_MAX ? null : { ...second, fromRev: first.fromRev, messages };
}
