/**
 * What goes into and comes out of one user's state (user-state.ts): change sets offered and change sets committed.
 */
import type { Op, Row } from '../../protocol/index.ts';
import type { DerivedRow } from './row.ts';

export interface Totals {
  readonly total: number;
  readonly badge: number;
  readonly mentions: number;
  /** 12 hex digits (SY8). */
  readonly digest: string;
}

/** Where a user's state stands. */
export interface StateHead extends Totals {
  readonly epoch: string;
  readonly syncVersion: number;
}

/** One committed change set of one user (SY1): what every device of the user gets. */
export interface Change extends StateHead {
  readonly user: string;
  readonly baseVersion: number;
  readonly op: Op;
  readonly rows: readonly Row[];
  /** Ids of the nodes that hold sockets of the user, as far as the state has been told; without it: any node may. */
  readonly nodes?: readonly number[];
}

/** A message at the head, as far as the rows of others need it. */
export interface PlainMessage {
  readonly seq: number;
  readonly sender: string;
  /** Countable and live. */
  readonly counts: boolean;
  readonly mentionAll: boolean;
  readonly mentions: readonly string[];
}

/**
 * The conversation's part of a change that consists of messages at the head and nothing else. It is applied to a held row only where it
 * follows directly (held convRev = fromRev); any other row is derived from truth. So a lost, doubled or reordered part changes nothing.
 */
export interface ConversationPart {
  readonly conv: string;
  readonly fromRev: number;
  readonly toRev: number;
  readonly headSeq: number;
  readonly activity: number;
  readonly messages: readonly PlainMessage[];
  /** Without effect on rows that are large already (CN8): what these lack is found when their users ask. */
  readonly unlessLarge?: boolean;
}

/** One change set offered to one user's state: applied whole, as one version (or none, SY9). */
export interface StateCall {
  readonly user: string;
  readonly op: Op;
  readonly rows: readonly DerivedRow[];
  readonly parts: readonly ConversationPart[];
  /** Reconcile: a row that differs at equal revs is replaced too, if the user still stands at (epoch, version). */
  readonly repairAt?: { readonly epoch: string; readonly syncVersion: number };
}
