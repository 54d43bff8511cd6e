import type { Event, EventResult, Op } from '../../../protocol/index.ts';
import type { ConversationPart } from '../change-set.ts';
import type { Facts, Writes } from '../transaction-facts.ts';

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

export interface IngestInput {
  readonly events: readonly Event[];
  /** One an event: its `fingerprintOf`. */
  readonly fingerprints: readonly string[];
  /** Answers to `ingestRequest` and to `ingestDetailsRequest` (null where that asked for nothing). */
  readonly facts: Facts;
  readonly details: Facts | null;
  readonly nowMs: number;
  readonly nextActivity: () => number;
}

export interface IngestPlan {
  /** One an event, in their order. */
  readonly results: readonly EventResult[];
  readonly writes: Writes;
  readonly changes: readonly ConversationChange[];
  /** OR1: messages that were put in below the head. */
  readonly lateInserts: number;
}

/** Applies a batch of events, in their order, to the facts loaded; pure. */
export function planIngest(input: IngestInput): IngestPlan {
  throw new Error(`not yet: ${input.events.length} events`);
}
