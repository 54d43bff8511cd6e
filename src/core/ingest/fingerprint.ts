import type { Event } from '../../../protocol/index.ts';

/**
 * What an event says, as text: two events with one event_id are the same event when their texts are equal (DT8). Empty for an
 * event without event_id, which is never compared. Left out are `event_id` itself, `sent_at`, which decides nothing and is often
 * stamped anew by a retry, and whatever the schemas do not know. A default that is spelled out is no difference, nor are order
 * and doubles in a list of users.
 */
export function fingerprintText(event: Event): string {
  return event.event_id === undefined ? '' : JSON.stringify(meaningOf(event));
}

function meaningOf(event: Event): unknown[] {
  switch (event.type) {
    case 'conversation.created':
      return [event.type, event.conv, asSet(event.members)];
    case 'message.created':
      return [
        event.type,
        event.conv,
        event.message_id,
        event.sender,
        event.countable ?? true,
        asSet(event.mentions ?? []),
        event.mention_all ?? false,
        event.sender_read ?? false,
        event.seq ?? null,
        asSet(event.members ?? []),
      ];
    case 'message.recalled':
      return [event.type, event.conv, event.message_id ?? null, event.seq ?? null];
    case 'message.edited':
      return [
        event.type,
        event.conv,
        event.message_id ?? null,
        event.seq ?? null,
        // Left out is not the same as empty: it keeps the mention set (DT4).
        event.mentions === undefined ? null : asSet(event.mentions),
        event.mention_all ?? null,
        event.countable ?? null,
      ];
    case 'member.joined':
    case 'member.left':
      return [event.type, event.conv, asSet(event.users), event.member_version ?? null];
    case 'conversation.dissolved':
      return [event.type, event.conv];
    case 'conversation.purged':
      return [event.type, event.conv, event.up_to_seq];
  }
}

function asSet(users: readonly string[]): string[] {
  return [...new Set(users)].toSorted();
}
