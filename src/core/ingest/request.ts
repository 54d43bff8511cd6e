import type { ConvMessageId, ConvSeq, ConvUser, FactRequest, Facts } from '../transaction-facts.ts';
import type { Event, MessageCreated } from '../../../protocol/index.ts';

/** The first load of a batch: all that its events name. */
export function ingestRequest(events: readonly Event[]): FactRequest {
  const eventIds: string[] = [];
  const conversations: string[] = [];
  const memberships: ConvUser[] = [];
  const messagesById: ConvMessageId[] = [];
  const messagesBySeq: ConvSeq[] = [];
  for (const event of events) {
    const { conv } = event;
    conversations.push(conv);
    if (event.event_id !== undefined) eventIds.push(event.event_id);
    for (const user of usersOf(event)) memberships.push({ conv, user });
    if (!('message_id' in event || 'seq' in event)) continue;
    if (event.message_id !== undefined) messagesById.push({ conv, messageId: event.message_id });
    if (event.seq !== undefined) messagesBySeq.push({ conv, seq: event.seq });
  }
  // What is parked is parked under the message_id, so one list serves both.
  return {
    eventIds,
    conversations,
    lockConversations: true,
    memberships,
    messagesById,
    messagesBySeq,
    parked: messagesById,
  };
}

/**
 * The second load, of what only the first can tell: mention set and adjustment of messages that are recalled or edited, ordinals at
 * places below the head, and own ordinals of users without a membership row, which would hold them. Null for most batches.
 */
export function ingestDetailsRequest(events: readonly Event[], facts: Facts): FactRequest | null {
  const details: ConvSeq[] = [];
  const places: ConvSeq[] = [];
  const ownPlaces: (ConvSeq & ConvUser)[] = [];
  for (const event of events) {
    const { conv } = event;
    const conversation = facts.conversation(conv);
    if (conversation === null) continue;
    const head = conversation.headSeq;
    for (const user of head === 0 ? [] : usersOf(event)) {
      if (facts.membership(conv, user) === null) ownPlaces.push({ conv, user, seq: head });
    }
    switch (event.type) {
      case 'message.created':
        if (!isLate(event, head, facts)) break;
        places.push({ conv, seq: event.seq });
        ownPlaces.push({ conv, user: event.sender, seq: event.seq });
        break;
      case 'message.recalled':
      case 'message.edited': {
        const message =
          event.seq === undefined
            ? facts.messageById(conv, event.message_id ?? '')
            : facts.messageBySeq(conv, event.seq);
        if (message !== null) details.push({ conv, seq: message.seq });
        break;
      }
      case 'conversation.purged':
        if (event.up_to_seq < head) places.push({ conv, seq: event.up_to_seq });
        break;
      default:
        break;
    }
  }
  if (details.length + places.length + ownPlaces.length === 0) return null;
  return { details, places, ownPlaces };
}

/** Users whose membership an event may change or needs to know. */
function usersOf(event: Event): readonly string[] {
  switch (event.type) {
    case 'conversation.created':
      return event.members;
    case 'message.created':
      return event.members === undefined ? [event.sender] : [event.sender, ...event.members];
    case 'member.joined':
    case 'member.left':
      return event.users;
    default:
      return [];
  }
}

/** OR3: its seq is at or below the head and free. */
function isLate(event: MessageCreated, head: number, facts: Facts): event is MessageCreated & { seq: number } {
  if (event.seq === undefined || event.seq > head) return false;
  return facts.messageById(event.conv, event.message_id) === null && facts.messageBySeq(event.conv, event.seq) === null;
}
