import type {
  Adjustment,
  Conversation,
  EventRecord,
  Membership,
  Message,
  Parked,
  RowFacts,
} from '../../src/core/facts.ts';
import type { ConvUser, FactRequest, Facts, MentionSet, Writes } from '../../src/core/transaction-facts.ts';
import { floorOf } from '../../src/core/counting.ts';

/**
 * Truth in maps: loads, stores and derives as an adapter does, by looking at every row. It is strict where an adapter may be: what was
 * not asked for cannot be looked up, what was loaded cannot be changed, and revs and ordinals may not fall.
 */
export class FactBase {
  readonly #conversations = new Map<string, Conversation>();
  readonly #messages = new Map<string, Map<number, Message>>();
  readonly #memberships = new Map<string, Membership>();
  readonly #adjustments = new Map<string, Adjustment>();
  readonly #mentions = new Map<string, MentionSet>();
  readonly #parked = new Map<string, Parked>();
  readonly #events = new Map<string, EventRecord>();

  load(request: FactRequest): Facts {
    const asked = new Set<string>();
    const ask = (kind: string, ...names: (string | number)[]) => asked.add(key(kind, ...names));
    for (const id of request.eventIds ?? []) ask('event', id);
    for (const conv of request.conversations ?? []) ask('conversation', conv);
    for (const { conv, user } of request.memberships ?? []) ask('membership', conv, user);
    for (const { conv, messageId } of request.messagesById ?? []) ask('messageById', conv, messageId);
    for (const { conv, seq } of request.messagesBySeq ?? []) ask('messageBySeq', conv, seq);
    for (const { conv, messageId } of request.parked ?? []) ask('parked', conv, messageId);
    for (const { conv, seq } of request.places ?? []) ask('place', conv, seq);
    for (const { conv, user, seq } of request.ownPlaces ?? []) ask('ownPlace', conv, user, seq);
    for (const { conv, seq } of request.details ?? []) ask('details', conv, seq);
    const answer = <T>(kind: string, names: (string | number)[], value: T | undefined): T | null => {
      if (!asked.has(key(kind, ...names))) throw new Error(`not asked for: ${kind} ${names.join(' ')}`);
      return value === undefined ? null : value;
    };
    return {
      event: (id) => answer('event', [id], this.#events.get(id)),
      conversation: (conv) => answer('conversation', [conv], this.#conversations.get(conv)),
      membership: (conv, user) => answer('membership', [conv, user], this.#memberships.get(key(conv, user))),
      messageById: (conv, id) =>
        answer(
          'messageById',
          [conv, id],
          this.#messagesOf(conv).find((one) => one.messageId === id),
        ),
      messageBySeq: (conv, seq) => answer('messageBySeq', [conv, seq], this.#messages.get(conv)?.get(seq)),
      parked: (conv, id) => answer('parked', [conv, id], this.#parked.get(key(conv, id))),
      place: (conv, seq) =>
        answer('place', [conv, seq], { seq, ord: this.#lastAt(conv, seq)?.ord ?? 0 }) ?? { seq, ord: 0 },
      ownPlace: (conv, user, seq) => answer('ownPlace', [conv, user, seq], this.#ownAt(conv, user, seq)) ?? 0,
      details: (conv, seq) =>
        answer('details', [conv, seq], {
          adjustment: this.#adjustments.get(key(conv, seq)) ?? null,
          mentions: this.#mentions.get(key(conv, seq))?.users ?? [],
        }) ?? { adjustment: null, mentions: [] },
    };
  }

  store(writes: Writes): void {
    for (const one of writes.conversations ?? []) {
      mustNotFall(this.#conversations.get(one.conv), one, [
        'rev',
        'membersRev',
        'headSeq',
        'headOrd',
        'purgeSeq',
        'lateCount',
        'activity',
      ]);
      this.#conversations.set(one.conv, frozen(one));
    }
    for (const one of writes.newMessages ?? []) {
      if (this.#messages.get(one.conv)?.has(one.seq)) throw new Error(`seq ${one.seq} of ${one.conv} given out twice`);
      this.#setMessage(one);
    }
    for (const one of writes.changedMessages ?? []) {
      const { ord, ownOrd } = this.#messages.get(one.conv)?.get(one.seq) ?? { ord: -1, ownOrd: -1 };
      if (ord !== one.ord || ownOrd !== one.ownOrd)
        throw new Error(`ordinals of seq ${one.seq} of ${one.conv} changed`);
      this.#setMessage(one);
    }
    for (const one of writes.memberships ?? []) {
      mustNotFall(this.#memberships.get(key(one.conv, one.user)), one, ['rev', 'memberVersion', 'ownOrd']);
      this.#memberships.set(key(one.conv, one.user), frozen(one));
    }
    for (const one of writes.adjustments ?? []) this.#adjustments.set(key(one.conv, one.seq), frozen(one));
    for (const one of writes.mentions ?? []) this.#mentions.set(key(one.conv, one.seq), frozen(one));
    for (const one of writes.parked ?? []) this.#parked.set(key(one.conv, one.messageId), frozen(one));
    for (const one of writes.unparked ?? []) this.#parked.delete(key(one.conv, one.messageId));
    for (const one of writes.events ?? []) this.#events.set(one.eventId, frozen(one));
  }

  conversation(conv: string): Readonly<Conversation> | null {
    return this.#conversations.get(conv) ?? null;
  }

  membership(conv: string, user: string): Readonly<Membership> | null {
    return this.#memberships.get(key(conv, user)) ?? null;
  }

  message(conv: string, seq: number): Readonly<Message> | null {
    return this.#messages.get(conv)?.get(seq) ?? null;
  }

  adjustment(conv: string, seq: number): Readonly<Adjustment> | null {
    return this.#adjustments.get(key(conv, seq)) ?? null;
  }

  parkedCount(): number {
    return this.#parked.size;
  }

  hasEvent(eventId: string): boolean {
    return this.#events.has(eventId);
  }

  /** Everything, as text: equal when and only when nothing differs. */
  dump(): string {
    const messages = [...this.#messages.values()].map((of) => [...of.values()]);
    const maps = [
      this.#conversations,
      this.#memberships,
      this.#adjustments,
      this.#mentions,
      this.#parked,
      this.#events,
    ];
    return JSON.stringify([messages, maps.map((map) => [...map.values()])]);
  }

  /** Null: there is no such conversation, or the user never had to do with it. */
  row({ conv, user }: ConvUser): RowFacts | null {
    const conversation = this.#conversations.get(conv);
    const membership = this.#memberships.get(key(conv, user));
    if (conversation === undefined || membership === undefined) return null;
    const purgeOwn = this.#ownAt(conv, user, conversation.purgeSeq);
    const base = {
      conversation,
      membership,
      purgeOwn,
      adjustByOthers: 0,
      namedMentions: 0,
      allMentions: 0,
      lateSinceHidden: false,
      lateSinceAway: false,
    };
    const floor = floorOf(base).seq;
    const adjustments = [...this.#adjustments.values()].filter((one) => one.conv === conv);
    const above = adjustments.filter((one) => one.seq > floor && one.sender !== user);
    const mentions = [...this.#mentions.values()].filter(
      (one) => one.conv === conv && one.seq > floor && one.sender !== user,
    );
    const late = adjustments.filter((one) => one.seq > membership.clearSeq);
    return {
      ...base,
      adjustByOthers: above.reduce((sum, { delta }) => sum + delta, 0),
      namedMentions: mentions.filter(({ all, users }) => !all && users.includes(user)).length,
      allMentions: mentions.filter(({ all }) => all).length,
      lateSinceHidden: membership.hiddenOrd >= 0 && late.some(({ lateNo }) => lateNo > membership.hiddenLate),
      lateSinceAway: membership.awayOrd >= 0 && late.some(({ lateNo }) => lateNo > membership.awayLate),
    };
  }

  #messagesOf(conv: string): Message[] {
    return [...(this.#messages.get(conv)?.values() ?? [])];
  }

  #setMessage(message: Message): void {
    const of = this.#messages.get(message.conv) ?? new Map<number, Message>();
    this.#messages.set(message.conv, of.set(message.seq, frozen(message)));
  }

  #lastAt(conv: string, seq: number, sender?: string): Message | undefined {
    return this.#messagesOf(conv)
      .filter((one) => one.seq <= seq && (sender === undefined || one.sender === sender))
      .toSorted((a, b) => a.seq - b.seq)
      .at(-1);
  }

  #ownAt(conv: string, user: string, seq: number): number {
    return this.#lastAt(conv, seq, user)?.ownOrd ?? 0;
  }
}

function key(...names: (string | number)[]): string {
  return JSON.stringify(names);
}

function frozen<T extends object>(one: T): T {
  return Object.freeze({ ...one });
}

function mustNotFall<T>(before: T | undefined, after: T, fields: (keyof T)[]): void {
  for (const field of before === undefined ? [] : fields) {
    if (Number(after[field]) < Number(before?.[field]))
      throw new Error(`${String(field)} fell: ${JSON.stringify(after)}`);
  }
}
