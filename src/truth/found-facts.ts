import type { Conversation, EventRecord, Membership, Message, Parked } from '../core/facts.ts';
import { Bug } from '../errors.ts';
import type { Facts, MessageDetails, Place } from '../ports.ts';

/** What a load found, by the key of what was asked for: an id, or `keyOf` the parts in the order of the methods of Facts. */
export interface Found {
  readonly events: ReadonlyMap<string, EventRecord | null>;
  readonly conversations: ReadonlyMap<string, Conversation | null>;
  readonly memberships: ReadonlyMap<string, Membership | null>;
  readonly byId: ReadonlyMap<string, Message | null>;
  readonly bySeq: ReadonlyMap<string, Message | null>;
  readonly parked: ReadonlyMap<string, Parked | null>;
  readonly places: ReadonlyMap<string, Place>;
  readonly ownPlaces: ReadonlyMap<string, number>;
  readonly details: ReadonlyMap<string, MessageDetails>;
}

export function factsOf(found: Found): Facts {
  return {
    event: (eventId) => asked(found.events, eventId),
    conversation: (conv) => asked(found.conversations, conv),
    membership: (conv, user) => asked(found.memberships, keyOf(conv, user)),
    messageById: (conv, messageId) => asked(found.byId, keyOf(conv, messageId)),
    messageBySeq: (conv, seq) => asked(found.bySeq, keyOf(conv, seq)),
    parked: (conv, messageId) => asked(found.parked, keyOf(conv, messageId)),
    place: (conv, seq) => asked(found.places, keyOf(conv, seq)),
    ownPlace: (conv, user, seq) => asked(found.ownPlaces, keyOf(conv, user, seq)),
    details: (conv, seq) => asked(found.details, keyOf(conv, seq)),
  };
}

function asked<T>(found: ReadonlyMap<string, T>, key: string): T {
  if (!found.has(key)) throw new Bug('a fact was used that the request did not ask for');
  return found.get(key) as T;
}

/** Ids may hold any character, so the length of the first tells where it ends; the third is behind the last colon. */
export function keyOf(first: string, second: string | number, third?: number): string {
  const key = `${first.length}:${first}${second}`;
  return third === undefined ? key : `${key}:${third}`;
}
