import type { Conversation, EventRecord } from '../facts.ts';
import type { Facts, Writes } from '../transaction-facts.ts';
import { type ConversationChange, ConversationDraft } from './conversation-draft.ts';

export interface Loaded {
  readonly facts: Facts;
  readonly details: Facts | null;
  readonly nowMs: number;
  readonly nextActivity: () => number;
}

/** All that the events of one batch read and change. */
export class WorkingSet {
  readonly #loaded: Loaded;
  readonly #drafts = new Map<string, ConversationDraft>();
  readonly #events = new Map<string, EventRecord>();
  #lateInserts = 0;

  constructor(loaded: Loaded) {
    this.#loaded = loaded;
  }

  get lateInserts(): number {
    return this.#lateInserts;
  }

  event(eventId: string): EventRecord | null {
    return this.#events.get(eventId) ?? this.#loaded.facts.event(eventId);
  }

  keepEvent(eventId: string, fingerprint: string, seq: number): void {
    this.#events.set(eventId, { eventId, fingerprint, seq, acceptedAt: this.#loaded.nowMs });
  }

  /** Null: not known, and not created in this batch either. */
  conversation(conv: string): ConversationDraft | null {
    const held = this.#drafts.get(conv);
    if (held !== undefined) return held;
    const before = this.#loaded.facts.conversation(conv);
    return before === null ? null : this.#open(conv, before);
  }

  createConversation(conv: string): ConversationDraft {
    const draft = this.#open(conv, null);
    draft.conversation.activity = this.nextActivity();
    return draft;
  }

  nextActivity(): number {
    return this.#loaded.nextActivity();
  }

  countLateInsert(): void {
    this.#lateInserts += 1;
  }

  finish(): { writes: Writes; changes: readonly ConversationChange[] } {
    const drafts = [...this.#drafts.values()];
    const changes = drafts.map((draft) => draft.change());
    const messages = drafts.map((draft) => draft.messages.writes());
    const writes: Writes = {
      conversations: drafts.flatMap(({ conversation }, i) => {
        const change = changes[i];
        return change ? [{ ...conversation, rev: change.toRev }] : [];
      }),
      newMessages: messages.flatMap((one) => one.newMessages),
      changedMessages: messages.flatMap((one) => one.changedMessages),
      memberships: drafts.flatMap((draft) => draft.members.writes()),
      adjustments: messages.flatMap((one) => one.adjustments),
      mentions: messages.flatMap((one) => one.mentions),
      parked: messages.flatMap((one) => one.parked),
      unparked: messages.flatMap((one) => one.unparked),
      events: [...this.#events.values()],
    };
    return { writes, changes: changes.flatMap((change) => change ?? []) };
  }

  #open(conv: string, before: Conversation | null): ConversationDraft {
    const draft = new ConversationDraft(conv, before, this.#loaded.facts, this.#loaded.details);
    this.#drafts.set(conv, draft);
    return draft;
  }
}
