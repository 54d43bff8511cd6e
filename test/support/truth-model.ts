import type { ConversationPart, PlainMessage } from '../../src/core/change-set.ts';
import type { DerivedRow } from '../../src/core/row.ts';

/**
 * A truth small enough to be seen through: it keeps every message and counts by looking at all of them, without ordinals, floors
 * or differences. So it is an independent oracle for whatever the product derives, and a source of rows and parts in any order.
 */
export interface ModelMessage {
  readonly seq: number;
  readonly sender: string;
  countable: boolean;
  recalled: boolean;
  readonly mentionAll: boolean;
  readonly mentions: readonly string[];
}

interface ModelConversation {
  readonly conv: string;
  readonly messages: ModelMessage[];
  readonly members: Map<string, ModelMember>;
  rev: number;
  large: boolean;
  dissolved: boolean;
  activity: number;
}

interface ModelMember {
  member: boolean;
  joinSeq: number;
  readSeq: number;
  readEpoch: number;
  clearSeq: number;
  /** How many countable messages there were when the row was hidden / cleared away; -1 = it was not. */
  hiddenAt: number;
  awayAt: number;
  muted: boolean;
  marked: boolean;
  rev: number;
}

/** What one transaction changed: for whom a part would do, and whose rows have to be derived. */
export interface ModelChange {
  readonly conv: string;
  readonly fromRev: number;
  readonly toRev: number;
  /** Null where the change is not made of messages at the head alone. */
  readonly part: ConversationPart | null;
  readonly members: readonly string[];
  /** Whose membership changed as well. */
  readonly touched: readonly string[];
}

export type ModelPost = Partial<Omit<PlainMessage, 'seq'>>;

export class TruthModel {
  readonly #conversations = new Map<string, ModelConversation>();
  #activity = 0;

  get convs(): string[] {
    return [...this.#conversations.keys()];
  }

  create(conv: string, users: readonly string[], large = false): void {
    const members = new Map(users.map((user) => [user, newMember(0)]));
    this.#conversations.set(conv, { conv, messages: [], members, rev: 1, large, dissolved: false, activity: 0 });
  }

  /** Messages at the head, in one transaction. The senders' memberships change too, as they keep what the sender has written. */
  post(conv: string, posts: readonly ModelPost[]): ModelChange {
    return this.#change(conv, (c) => {
      const messages: PlainMessage[] = posts.map((post) => {
        const { sender = 'somebody', counts = true, mentionAll = false, mentions = [] } = post;
        const message = {
          seq: c.messages.length + 1,
          sender,
          countable: counts,
          recalled: false,
          mentionAll,
          mentions,
        };
        c.messages.push(message);
        return { seq: message.seq, sender, counts, mentionAll, mentions };
      });
      this.#activity++;
      c.activity = this.#activity;
      return { touched: messages.map(({ sender }) => sender).filter((user) => c.members.has(user)), messages };
    });
  }

  recall(conv: string, seq: number): ModelChange {
    return this.#change(conv, (c) => {
      const message = c.messages[seq - 1];
      if (message) message.recalled = true;
      return { touched: [] };
    });
  }

  join(conv: string, user: string): ModelChange {
    return this.#change(conv, (c) => {
      const rev = c.members.get(user)?.rev ?? 0;
      if (c.members.get(user)?.member !== true) c.members.set(user, { ...newMember(c.messages.length), rev });
      return { touched: [user] };
    });
  }

  leave(conv: string, user: string): ModelChange {
    return this.#change(conv, (c) => {
      const member = c.members.get(user);
      if (member) member.member = false;
      return { touched: member ? [user] : [] };
    });
  }

  dissolve(conv: string): ModelChange {
    return this.#change(conv, (c) => {
      c.dissolved = true;
      return { touched: [] };
    });
  }

  ack(conv: string, user: string, seq: number): void {
    this.#command(conv, user, (m, c) => {
      m.readSeq = Math.max(m.readSeq, Math.min(seq, c.messages.length));
      m.marked = false;
    });
  }

  markUnread(conv: string, user: string, fromSeq: number | null): void {
    this.#command(conv, user, (m) => {
      m.readEpoch++;
      if (fromSeq === null) m.marked = true;
      else m.readSeq = Math.max(0, Math.min(m.readSeq, fromSeq - 1));
    });
  }

  mute(conv: string, user: string, muted: boolean): void {
    this.#command(conv, user, (m) => {
      m.muted = muted;
    });
  }

  hide(conv: string, user: string, hidden: boolean): void {
    this.#command(conv, user, (m, c) => {
      m.hiddenAt = hidden ? countable(c) : -1;
    });
  }

  clear(conv: string, user: string): void {
    this.#command(conv, user, (m, c) => {
      m.clearSeq = c.messages.length;
      m.awayAt = countable(c);
    });
  }

  /** The row as a consistent read finds it now. */
  row(conv: string, user: string): DerivedRow {
    const c = this.#conversation(conv);
    const m = c.members.get(user) ?? { ...newMember(0), member: false, rev: 0 };
    const floorSeq = Math.max(m.readSeq, m.joinSeq, m.clearSeq);
    const unread = c.messages.filter(
      (message) => message.countable && !message.recalled && message.sender !== user && message.seq > floorSeq,
    );
    return {
      conv,
      convRev: c.rev,
      memberRev: m.rev,
      member: m.member && !c.dissolved,
      unread: unread.length,
      mentions: unread.filter(({ mentionAll, mentions }) => mentionAll || mentions.includes(user)).length,
      readSeq: m.readSeq,
      readEpoch: m.readEpoch,
      floorSeq,
      headSeq: c.messages.length,
      muted: m.muted,
      marked: m.marked,
      hidden: m.hiddenAt === countable(c),
      away: m.awayAt === countable(c),
      large: c.large,
      activity: c.activity,
      othersEver: c.messages.filter((message) => message.countable && message.sender !== user).length,
    };
  }

  /** Every conversation that the user is or was a member of. */
  rowsOf(user: string): DerivedRow[] {
    return this.convs.filter((conv) => this.#conversation(conv).members.has(user)).map((conv) => this.row(conv, user));
  }

  rev(conv: string): number {
    return this.#conversation(conv).rev;
  }

  headSeq(conv: string): number {
    return this.#conversation(conv).messages.length;
  }

  #conversation(conv: string): ModelConversation {
    const found = this.#conversations.get(conv);
    if (!found) throw new Error(`no conversation ${conv}`);
    return found;
  }

  #change(
    conv: string,
    change: (c: ModelConversation) => { touched: readonly string[]; messages?: readonly PlainMessage[] },
  ): ModelChange {
    const c = this.#conversation(conv);
    const fromRev = c.rev;
    const { touched, messages } = change(c);
    c.rev++;
    for (const user of new Set(touched)) {
      const member = c.members.get(user);
      if (member) member.rev++;
    }
    const members = [...c.members].filter(([, m]) => m.member).map(([user]) => user);
    const head = { conv, fromRev, toRev: c.rev, headSeq: c.messages.length, activity: c.activity };
    return { conv, fromRev, toRev: c.rev, part: messages ? { ...head, messages } : null, members, touched };
  }

  #command(conv: string, user: string, change: (m: ModelMember, c: ModelConversation) => void): void {
    const c = this.#conversation(conv);
    const member = c.members.get(user);
    if (!member?.member) return;
    change(member, c);
    member.rev++;
  }
}

/** A part that says only "derive this row": it follows on no rev. */
export function derivePart({ conv, toRev }: ModelChange): ConversationPart {
  return { conv, fromRev: -1, toRev, headSeq: 0, activity: 0, messages: [] };
}

/** Two parts of which the second follows on the first, as one. */
export function joinParts(first: ConversationPart, second: ConversationPart): ConversationPart {
  return { ...second, fromRev: first.fromRev, messages: [...first.messages, ...second.messages] };
}

/** A row of someone who has read everything; for tests that only care about a few fields. */
export function plainRow(fields: Partial<DerivedRow> & { conv: string }): DerivedRow {
  return {
    convRev: 1,
    memberRev: 1,
    member: true,
    unread: 0,
    mentions: 0,
    readSeq: 0,
    readEpoch: 0,
    floorSeq: 0,
    headSeq: 0,
    muted: false,
    marked: false,
    hidden: false,
    away: false,
    large: false,
    activity: 1,
    othersEver: 0,
    ...fields,
  };
}

/**
 * What a row says of truth, without what belongs to one run of the state: its version, and its place in lists, which waits for
 * the version.
 */
export function factsOf(row: DerivedRow): Omit<DerivedRow, 'activity'> {
  const keys = Object.keys(plainRow({ conv: row.conv })).filter((key) => key !== 'activity');
  return Object.fromEntries(keys.map((key) => [key, row[key as keyof DerivedRow]])) as Omit<DerivedRow, 'activity'>;
}

function newMember(joinSeq: number): ModelMember {
  const seqs = { joinSeq, readSeq: 0, readEpoch: 0, clearSeq: 0, hiddenAt: -1, awayAt: -1 };
  return { member: true, ...seqs, muted: false, marked: false, rev: 1 };
}

/** How many countable messages there have ever been. */
function countable(c: ModelConversation): number {
  return c.messages.filter((message) => message.countable).length;
}
