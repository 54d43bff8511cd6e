import type { Facts } from '../transaction-facts.ts';
import { unreadOf } from '../counting.ts';
import type { Membership, RowFacts } from '../facts.ts';
import { type CommandDraft, type CommandPlan, draftOf, memberOf, unknown } from './command.ts';

export interface ClearCommand {
  readonly user: string;
  readonly conv: string;
  /** Absent: up to the head. */
  readonly upToSeq?: number | undefined;
}

/**
 * LC3, first half: `clear_seq` rises, whatever else happens. `row` is the row as it stands before, read under the lock of the membership;
 * null where there is none.
 * A lower seq than an earlier clear's is a late one: stale, and takes nothing of what came since.
 */
export function draftClear({ user, conv, upToSeq }: ClearCommand, facts: Facts, row: RowFacts | null): CommandDraft {
  const found = memberOf(facts, conv, user);
  if (found === null || row === null) return draftOf([unknown(conv)], []);
  const { conversation, before } = found;
  const head = conversation.headSeq;
  const clearSeq = Math.min(upToSeq ?? head, head);
  const { readSeq } = before;
  if (clearSeq < before.clearSeq) return draftOf([{ conv, status: 'stale', readSeq }], []);

  const after = { ...before, clearSeq };
  // A late message that brought the row back may now lie below the clear, where it is no longer looked for: so that is noted here.
  if (row.lateSinceHidden) after.hiddenOrd = -1;
  if (row.lateSinceAway) after.awayOrd = -1;
  const status = upToSeq !== undefined && upToSeq > head ? 'clamped' : 'applied';
  return draftOf([{ conv, status, readSeq }], [{ conversation, before, after }]);
}

/**
 * LC3, second half, in the same transaction: with nothing newer unread the conversation is cleared away, until something countable comes.
 * `row` is the row after the first half has been stored.
 */
export function planAway(draft: CommandDraft, row: RowFacts | null): CommandPlan {
  const nothing: CommandPlan = { memberships: [], changed: [] };
  const status = draft.outcomes[0]?.status;
  if (status === 'unknown' || status === 'stale' || row === null || unreadOf(row) > 0) return nothing;
  const { conversation, membership } = row;

  const awayOrd = conversation.headOrd;
  const awayLate = conversation.lateCount;
  if (membership.awayOrd === awayOrd && membership.awayLate === awayLate) return nothing;
  // The first half raised the rev already, if it changed anything.
  const rev = draft.revisions.length > 0 ? membership.rev : membership.rev + 1;
  const away: Membership = { ...membership, awayOrd, awayLate, rev };
  return { memberships: [away], changed: [{ conv: away.conv, user: away.user }] };
}
