import type { RowFacts } from './facts.ts';

export type FloorSource = 'read' | 'join' | 'clear' | 'purge';

export interface Floor {
  readonly seq: number;
  readonly ord: number;
  readonly own: number;
  readonly from: FloorSource;
}

/** CN1: floor = max(read_seq, join_seq, clear_seq, purge_seq), with the two ordinals at that place. */
export function floorOf({ conversation: c, membership: m, purgeOwn }: RowFacts): Floor {
  if (c.purgeSeq > m.floorSeq) return { seq: c.purgeSeq, ord: c.purgeOrd, own: purgeOwn, from: 'purge' };
  const from = m.floorSeq === m.readSeq ? 'read' : m.floorSeq === m.clearSeq ? 'clear' : 'join';
  return { seq: m.floorSeq, ord: m.floorOrd, own: m.floorOwn, from };
}

/**
 * CN1, CN4, CN5, CN6: countable messages above the floor, less one's own, corrected by what happened to them later.
 *
 *     unread(u,c) = ord(head) - ord(floor) - own(u, > floor) + adjust_by_others(u, > floor)
 *
 * No scan: the cost does not depend on how much is unread. Never negative (CN9), by the definition of the ordinals;
 * the clamp only keeps a damaged store from showing one, and reconcile finds it by counting message rows.
 */
export function unreadOf(facts: RowFacts): number {
  const floor = floorOf(facts);
  const byAnyone = facts.conversation.headOrd - floor.ord;
  const own = facts.membership.ownOrd - floor.own;
  return Math.max(0, byAnyone - own + facts.adjustByOthers);
}

/** CN2: exact and never capped. A message that names the user and all counts once. */
export function mentionsOf(facts: RowFacts): number {
  return facts.namedMentions + facts.allMentions;
}
