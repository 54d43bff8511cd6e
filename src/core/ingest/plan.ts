import type { Event, EventResult } from '../../../protocol/index.ts';
import type { Facts, Writes } from '../transaction-facts.ts';
import type { ConversationChange } from './conversation-draft.ts';
import { conversationDissolved, conversationPurged } from './conversation-ended.ts';
import { conversationCreated, memberJoined, memberLeft } from './membership.ts';
import { messageEdited, messageRecalled } from './message-changed.ts';
import { messageCreated } from './message-created.ts';
import { refuse } from './result.ts';
import { WorkingSet } from './working-set.ts';

export type { ConversationChange };

export interface IngestInput {
  readonly events: readonly Event[];
  /** One an event: a hash of its `fingerprintText`. */
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

/** Applies a batch of events, in their order, each upon what those before it left. A refused one has changed nothing. */
export function planIngest({ events, fingerprints, ...loaded }: IngestInput): IngestPlan {
  const work = new WorkingSet(loaded);
  const results = events.map((event, i) => applyOnce(event, fingerprints[i] ?? '', work));
  return { results, ...work.finish(), lateInserts: work.lateInserts };
}

/** DT3, DT8: an event_id stands for one event; that one again changes nothing and gets its first answer. */
function applyOnce(event: Event, fingerprint: string, work: WorkingSet): EventResult {
  const { event_id: eventId } = event;
  if (eventId === undefined) return apply(event, work);
  const first = work.event(eventId);
  if (first === null) {
    const result = apply(event, work);
    if (result.ok) work.keepEvent(eventId, fingerprint, result.seq ?? 0);
    return result;
  }
  if (first.fingerprint !== fingerprint) {
    return refuse('event_id_conflict', `event_id '${eventId}' belongs to a different event`, 'event_id');
  }
  return event.type === 'message.created'
    ? { ok: true, seq: first.seq, duplicate: true }
    : { ok: true, duplicate: true };
}

function apply(event: Event, work: WorkingSet): EventResult {
  switch (event.type) {
    case 'conversation.created':
      return conversationCreated(event, work);
    case 'message.created':
      return messageCreated(event, work);
    case 'message.recalled':
      return messageRecalled(event, work);
    case 'message.edited':
      return messageEdited(event, work);
    case 'member.joined':
      return memberJoined(event, work);
    case 'member.left':
      return memberLeft(event, work);
    case 'conversation.dissolved':
      return conversationDissolved(event, work);
    case 'conversation.purged':
      return conversationPurged(event, work);
  }
}
