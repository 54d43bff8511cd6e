/**
 * What one transaction of truth loads and stores: the language in which the pure rules ask for facts and say what is to be written.
 */
import type { Adjustment, Conversation, EventRecord, Membership, Message, Parked } from './facts.ts';

export interface ConvUser {
  readonly conv: string;
  readonly user: string;
}
export interface ConvSeq {
  readonly conv: string;
  readonly seq: number;
}
export interface ConvMessageId {
  readonly conv: string;
  readonly messageId: string;
}
/** The ordinals at a place of a conversation: those of the last message with seq ≤ the place asked for. */
export interface Place {
  readonly seq: number;
  readonly ord: number;
}

/** What a transaction wants to know. Lists may hold doubles and need no order; the adapter locks in sorted order. */
export interface FactRequest {
  /** Event ids already used. Locked before anything else. */
  readonly eventIds?: readonly string[];
  readonly conversations?: readonly string[];
  /** True: the conversations are locked, and those that do not exist cannot come into being elsewhere until commit. */
  readonly lockConversations?: boolean;
  /** Locked. */
  readonly memberships?: readonly ConvUser[];
  readonly messagesById?: readonly ConvMessageId[];
  readonly messagesBySeq?: readonly ConvSeq[];
  readonly parked?: readonly ConvMessageId[];
  /** The ordinal at `seq`, that is of the last message with seq' ≤ seq. */
  readonly places?: readonly ConvSeq[];
  /** The own ordinal of `user` at `seq`: of the user's last message with seq' ≤ seq. */
  readonly ownPlaces?: readonly (ConvSeq & ConvUser)[];
  /** Adjustment and named mentions of a message. */
  readonly details?: readonly ConvSeq[];
}

export interface MessageDetails {
  readonly adjustment: Adjustment | null;
  readonly mentions: readonly string[];
}

/** Answers to a FactRequest. What was not asked for must not be looked up; what does not exist answers null (0 for ordinals). */
export interface Facts {
  event(eventId: string): EventRecord | null;
  conversation(conv: string): Conversation | null;
  membership(conv: string, user: string): Membership | null;
  messageById(conv: string, messageId: string): Message | null;
  messageBySeq(conv: string, seq: number): Message | null;
  parked(conv: string, messageId: string): Parked | null;
  place(conv: string, seq: number): Place;
  ownPlace(conv: string, user: string, seq: number): number;
  details(conv: string, seq: number): MessageDetails;
}

/** The named mentions of one message, replaced as a whole. `underAll`: kept, but not counted, since the message names all. */
export interface MentionSet {
  readonly conv: string;
  readonly seq: number;
  readonly sender: string;
  readonly users: readonly string[];
  readonly all: boolean;
}

/** Rows to be stored by one transaction; every list is "insert or replace by key". */
export interface Writes {
  readonly conversations?: readonly Conversation[];
  readonly newMessages?: readonly Message[];
  readonly changedMessages?: readonly Message[];
  readonly memberships?: readonly Membership[];
  readonly adjustments?: readonly Adjustment[];
  readonly mentions?: readonly MentionSet[];
  readonly parked?: readonly Parked[];
  readonly unparked?: readonly ConvMessageId[];
  readonly events?: readonly EventRecord[];
  /** One row a (conv) or (user, conv) that the fan-out owes somebody; see OutboxRow. */
  readonly outbox?: readonly OutboxTarget[];
}

export interface OutboxTarget {
  readonly conv: string;
  /** Null: all members of the conversation. */
  readonly user: string | null;
}
