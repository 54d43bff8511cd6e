import type { Adjustment, Conversation, Message, Parked } from '../facts.ts';
import type { Facts, MentionSet, MessageDetails, Writes } from '../transaction-facts.ts';

/** Messages of one conversation while a batch is applied: as loaded, and over that what the events of the batch have made of them. */
export class MessageDrafts {
  readonly #conv: string;
  readonly #before: Readonly<Conversation> | null;
  readonly #facts: Facts;
  readonly #details: Facts | null;

  readonly #byId = new Map<string, Message>();
  readonly #bySeq = new Map<number, Message>();
  readonly #new = new Set<Message>();
  readonly #changed = new Set<Message>();
  readonly #adjustments = new Map<number, Adjustment>();
  readonly #mentions = new Map<number, MentionSet>();
  readonly #parked = new Map<string, Parked | null>();

  constructor(conv: string, before: Readonly<Conversation> | null, facts: Facts, details: Facts | null) {
    this.#conv = conv;
    this.#before = before;
    this.#facts = facts;
    this.#details = details;
  }

  byId(messageId: string): Message | null {
    return this.#byId.get(messageId) ?? this.#keep(this.#facts.messageById(this.#conv, messageId));
  }

  bySeq(seq: number): Message | null {
    return this.#bySeq.get(seq) ?? this.#keep(this.#facts.messageBySeq(this.#conv, seq));
  }

  add(message: Message): void {
    this.#new.add(message);
    this.#byId.set(message.messageId, message);
    this.#bySeq.set(message.seq, message);
  }

  change(message: Message, change: Partial<Pick<Message, 'countable' | 'recalled' | 'mentionAll'>>): void {
    Object.assign(message, change);
    if (!this.#new.has(message)) this.#changed.add(message);
  }

  adjustment(message: Message): Adjustment | null {
    return this.#adjustments.get(message.seq) ?? this.#loaded(message)?.adjustment ?? null;
  }

  adjust({ conv, seq, sender }: Message, delta: Adjustment['delta'], lateNo: number): void {
    this.#adjustments.set(seq, { conv, seq, sender, delta, lateNo });
  }

  mentions(message: Message): readonly string[] {
    return this.#mentions.get(message.seq)?.users ?? this.#loaded(message)?.mentions ?? [];
  }

  setMentions({ conv, seq, sender, mentionAll }: Message, users: readonly string[]): void {
    this.#mentions.set(seq, { conv, seq, sender, users, all: mentionAll });
  }

  parked(messageId: string): Parked | null {
    const held = this.#parked.get(messageId);
    return held === undefined ? this.#facts.parked(this.#conv, messageId) : held;
  }

  park(parked: Parked): void {
    this.#parked.set(parked.messageId, parked);
  }

  unpark(messageId: string): void {
    this.#parked.set(messageId, null);
  }

  /** The ordinal at a place: it is never less than that of a message at or below it, and those of this batch have theirs. */
  ordAt(seq: number): number {
    const head = this.#before?.headSeq ?? 0;
    let ord = seq < head ? (this.#details?.place(this.#conv, seq).ord ?? 0) : (this.#before?.headOrd ?? 0);
    for (const message of this.#new) if (message.seq <= seq) ord = Math.max(ord, message.ord);
    return ord;
  }

  /** The same for the own ordinal of a sender, who had `ownOrdBefore` at the head before this batch. */
  ownOrdAt(sender: string, seq: number, ownOrdBefore: number): number {
    const head = this.#before?.headSeq ?? 0;
    let ownOrd = seq < head ? (this.#details?.ownPlace(this.#conv, sender, seq) ?? 0) : ownOrdBefore;
    for (const message of this.#new) {
      if (message.seq <= seq && message.sender === sender) ownOrd = Math.max(ownOrd, message.ownOrd);
    }
    return ownOrd;
  }

  writes(): Required<
    Pick<Writes, 'newMessages' | 'changedMessages' | 'adjustments' | 'mentions' | 'parked' | 'unparked'>
  > {
    const parked = [...this.#parked];
    return {
      newMessages: [...this.#new],
      changedMessages: [...this.#changed],
      adjustments: [...this.#adjustments.values()],
      mentions: [...this.#mentions.values()],
      parked: parked.flatMap(([, held]) => (held === null ? [] : [held])),
      unparked: parked.flatMap(([messageId, held]) => (held === null ? [{ conv: this.#conv, messageId }] : [])),
    };
  }

  /** Under both of its names, so that there is one object a message, whichever it is asked by. */
  #keep(loaded: Message | null): Message | null {
    if (loaded === null) return null;
    const message = { ...loaded };
    this.#byId.set(message.messageId, message);
    this.#bySeq.set(message.seq, message);
    return message;
  }

  #loaded(message: Message): MessageDetails | null {
    if (this.#new.has(message)) return null;
    return this.#details?.details(this.#conv, message.seq) ?? null;
  }
}
