import type { AckStatus } from '../../../protocol/index.ts';
import type { ConvSeq, ConvUser, FactRequest, Facts } from '../transaction-facts.ts';
import type { Conversation, Membership } from '../facts.ts';

/**
 * How every command of a user runs, many of them in one transaction:
 *
 *   load(request) → draft (pure) → load(draft.places), if any → settle (pure) → store
 *
 * A draft says what changes; only then is known at which places the ordinals of the new floors are needed.
 */
export interface CommandDraft {
  /** In the order of the commands. */
  readonly outcomes: readonly CommandOutcome[];
  readonly revisions: readonly Revision[];
  /** What `settle` needs to know beside the facts; null for nothing. */
  readonly places: FactRequest | null;
}

/** What one item answers; `unread` is added from the row that is derived afterwards. */
export interface CommandOutcome {
  readonly conv: string;
  readonly status: AckStatus;
  /** Absent where the status is `unknown`. */
  readonly readSeq?: number;
}

/** A membership that changes, and as it was. The ordinals of a floor that moved are still the old ones. */
export interface Revision {
  readonly conversation: Readonly<Conversation>;
  readonly before: Readonly<Membership>;
  readonly after: Membership;
}

export interface CommandPlan {
  /** To be stored. Each has a rev one above the one it had, however many commands of the transaction changed it. */
  readonly memberships: readonly Membership[];
  /** The same as pairs: whose rows have changed. */
  readonly changed: readonly ConvUser[];
}

/** First load for commands that name a conversation each. */
export function commandRequest(pairs: readonly ConvUser[]): FactRequest {
  return { conversations: pairs.map(({ conv }) => conv), memberships: pairs };
}

/** AK3: both sides of a command, or null where the user is not a member of a living conversation. */
export function memberOf(facts: Facts, conv: string, user: string): Omit<Revision, 'after'> | null {
  const conversation = facts.conversation(conv);
  const before = facts.membership(conv, user);
  if (conversation === null || conversation.dissolved || before === null || !before.member) return null;
  return { conversation, before };
}

export function unknown(conv: string): CommandOutcome {
  return { conv, status: 'unknown' };
}

/** CN1: the part of the floor that is the member's own. The purge floor is the conversation's. */
function memberFloor(membership: Pick<Membership, 'readSeq' | 'joinSeq' | 'clearSeq'>): number {
  return Math.max(membership.readSeq, membership.joinSeq, membership.clearSeq);
}

export function draftOf(outcomes: readonly CommandOutcome[], touched: Iterable<Revision>): CommandDraft {
  const revisions = [...touched].filter(({ before, after }) => differ(before, after));
  const places: ConvSeq[] = [];
  const ownPlaces: (ConvSeq & ConvUser)[] = [];
  for (const revision of revisions) {
    const { conv, user } = revision.after;
    const seq = memberFloor(revision.after);
    if (knownOrd(revision, seq) === null) places.push({ conv, seq });
    if (knownOwn(revision, seq) === null) ownPlaces.push({ conv, user, seq });
  }
  return { outcomes, revisions, places: places.length + ownPlaces.length > 0 ? { places, ownPlaces } : null };
}

/** Gives the floors that moved their ordinals, and every changed membership its new rev. `places` answers `draft.places`. */
export function settle(draft: CommandDraft, places: Facts | null): CommandPlan {
  const memberships = draft.revisions.map((revision): Membership => {
    const { before, after } = revision;
    const { conv, user } = after;
    const floorSeq = memberFloor(after);
    const floorOrd = knownOrd(revision, floorSeq) ?? places?.place(conv, floorSeq).ord ?? before.floorOrd;
    const floorOwn = knownOwn(revision, floorSeq) ?? places?.ownPlace(conv, user, floorSeq) ?? before.floorOwn;
    return { ...after, floorSeq, floorOrd, floorOwn, rev: before.rev + 1 };
  });
  return { memberships, changed: memberships.map(({ conv, user }) => ({ conv, user })) };
}

function differ(before: Readonly<Membership>, after: Readonly<Membership>): boolean {
  return (Object.keys(before) as (keyof Membership)[]).some((field) => before[field] !== after[field]);
}

/** The ordinal at the new floor, where the facts of the command tell it. */
function knownOrd({ conversation, before }: Revision, seq: number): number | null {
  if (seq === before.floorSeq) return before.floorOrd;
  if (seq === 0) return 0;
  if (seq >= conversation.headSeq) return conversation.headOrd;
  return seq > before.floorSeq && before.floorOrd === conversation.headOrd ? before.floorOrd : null;
}

/** The own ordinal there. A floor that rises over no own message keeps it. */
function knownOwn({ before }: Revision, seq: number): number | null {
  if (seq === before.floorSeq) return before.floorOwn;
  if (seq === 0 || before.ownOrd === 0) return 0;
  return seq > before.floorSeq && before.floorOwn === before.ownOrd ? before.floorOwn : null;
}
