// Unread numbers counted by their definition, for tests of clients: messages and memberships, and for each user the rows with
// the version that last changed them. Slow and plain; it follows the contract and nothing of how the product does it.
import type { AckItem } from '../../protocol/client-frames.ts';
import { formatDigest } from '../../protocol/digest.ts';
import { sumsOf } from '../../protocol/row-sums.ts';
import type { AckedItem, AckStatus, Op, Row } from '../../protocol/server-frames.ts';

interface Message {
  seq: number;
  sender: string;
  countable: boolean;
  recalled: boolean;
  mentions: readonly string[];
}

interface Membership {
  present: boolean;
  join: number;
  read: number;
  readEpoch: number;
  cleared: number;
  /** Head when it was hidden, cleared away: hidden (away) while no countable message has come since. */
  hiddenAt: number | null;
  awayAt: number | null;
  muted: boolean;
  marked: boolean;
}

interface Conversation {
  messages: Message[];
  members: Map<string, Membership>;
  large: boolean;
}

/** What a user's devices may show, and everything they ever might have shown. */
interface UserState {
  epoch: string;
  version: number;
  /** Tombstones included. */
  rows: Map<string, Row>;
  everTotals: Set<string>;
  everRows: Set<string>;
}

/** What a frame says of a whole state. */
export type Sums = {
  epoch: string;
  sync_version: number;
  total: number;
  badge: number;
  mentions: number;
  digest: string;
};

export interface TruthHandler {
  /** A user's rows look different now: one version. */
  changed(user: string, rows: readonly Row[], op: Op): void;
  /** The user's state was built anew, under a new epoch. */
  rebuilt(user: string): void;
}

export class CountedTruth {
  readonly #handler: TruthHandler;
  readonly #unreadCap: number;
  readonly #conversations = new Map<string, Conversation>();
  readonly #users = new Map<string, UserState>();
  #epochs = 0;

  constructor(unreadCap: number, handler: TruthHandler) {
    this.#unreadCap = unreadCap;
    this.#handler = handler;
  }

  // ------------------------------------------------------------------ events

  create(conv: string, members: readonly string[], large = false): void {
    const conversation = { messages: [], members: new Map(), large };
    this.#conversations.set(conv, conversation);
    for (const user of members) this.#enter(conversation, user);
    this.#commit(members, 'join');
  }

  post(conv: string, sender: string, options: { countable?: boolean; mentions?: readonly string[] } = {}): number {
    const conversation = this.#conversation(conv);
    const seq = headOf(conversation) + 1;
    const { countable = true, mentions = [] } = options;
    conversation.messages.push({ seq, sender, countable, recalled: false, mentions });
    if (countable) for (const member of conversation.members.values()) member.hiddenAt = member.awayAt = null;
    this.#commit(conversation.members.keys(), 'message');
    return seq;
  }

  recall(conv: string, seq: number): void {
    const conversation = this.#conversation(conv);
    for (const message of conversation.messages) if (message.seq === seq) message.recalled = true;
    this.#commit(conversation.members.keys(), 'recall');
  }

  leave(conv: string, user: string): void {
    const member = this.#conversation(conv).members.get(user);
    if (member !== undefined) member.present = false;
    this.#commit([user], 'leave');
  }

  join(conv: string, user: string): void {
    const conversation = this.#conversation(conv);
    if (conversation.members.get(user)?.present !== true) this.#enter(conversation, user);
    this.#commit([user], 'join');
  }

  /** The state of one user is lost and built anew from truth; open sockets are told (SY10). */
  loseState(user: string): void {
    this.#users.get(user)?.rows.clear();
    this.state(user).version = 0;
    this.#rebuild(user);
    this.#handler.rebuilt(user);
  }

  // ------------------------------------------------------------------ state

  state(user: string): UserState {
    const held = this.#users.get(user);
    if (held !== undefined) return held;
    const state = {
      epoch: '',
      version: 0,
      rows: new Map(),
      everTotals: new Set<string>(),
      everRows: new Set<string>(),
    };
    this.#users.set(user, state);
    this.#rebuild(user);
    return state;
  }

  /** Rows by definition, at this moment. */
  rowsOf(user: string): Row[] {
    const rows = [...this.#conversations].flatMap(([conv, { members }]) =>
      members.has(user) ? [this.#row(conv, user)] : [],
    );
    return rows.filter((row) => row.gone !== true);
  }

  headOf(conv: string): number {
    return headOf(this.#conversation(conv));
  }

  sums(user: string): Sums {
    const { epoch, version, rows } = this.state(user);
    const { total, badge, mentions, digest } = sumsOf(rows.values());
    return { epoch, sync_version: version, total, badge, mentions, digest: formatDigest(digest) };
  }

  #rebuild(user: string): void {
    const state = this.state(user);
    state.epoch = `epoch-${++this.#epochs}`;
    state.version = 1;
    state.rows = new Map(this.rowsOf(user).map((row) => [row.conv, { ...row, version: 1 }]));
    this.#note(user);
  }

  /** One version for each user whose rows look different now (SY1, SY9). */
  #commit(users: Iterable<string>, op: Op): void {
    for (const user of users) {
      const state = this.state(user);
      const changed: Row[] = [];
      for (const [conv, { members }] of this.#conversations) {
        if (!members.has(user)) continue;
        const row = { ...this.#row(conv, user), version: state.version + 1 };
        if (!looksSame(state.rows.get(conv), row)) changed.push(row);
      }
      if (changed.length === 0) continue;
      state.version++;
      for (const row of changed) state.rows.set(row.conv, row);
      this.#note(user);
      this.#handler.changed(user, changed, op);
    }
  }

  #note(user: string): void {
    const { rows, everRows, everTotals } = this.state(user);
    const { total, badge, mentions } = sumsOf(rows.values());
    everTotals.add(`${total} ${badge} ${mentions}`);
    for (const row of rows.values()) everRows.add(`${row.conv} ${row.unread} ${row.mentions}`);
  }

  #row(conv: string, user: string): Row {
    const conversation = this.#conversation(conv);
    const member = conversation.members.get(user);
    if (member === undefined) throw new Error(`${user} was never in ${conv}`);
    const floor = Math.max(member.read, member.join, member.cleared);
    const counted = conversation.messages.filter(
      ({ seq, sender, countable, recalled }) => seq > floor && sender !== user && countable && !recalled,
    );
    const capped = conversation.large && counted.length > this.#unreadCap;
    const base = {
      conv,
      version: 0,
      read_seq: member.read,
      read_epoch: member.readEpoch,
      head_seq: headOf(conversation),
    };
    if (!member.present || member.awayAt !== null) return { ...base, unread: 0, mentions: 0, gone: true };
    return {
      ...base,
      unread: capped ? this.#unreadCap : counted.length,
      mentions: counted.filter(({ mentions }) => mentions.includes(user)).length,
      ...(floor === member.read ? {} : { floor_seq: floor }),
      ...(member.muted ? { muted: true } : {}),
      ...(member.marked ? { marked: true } : {}),
      ...(member.hiddenAt === null ? {} : { hidden: true }),
      ...(capped ? { capped: true } : {}),
    };
  }

  // ------------------------------------------------------------------ commands

  ack(user: string, items: readonly AckItem[]): AckedItem[] {
    const answers = items.map((item): AckedItem => {
      const conversation = this.#conversations.get(item.conv);
      const member = conversation?.members.get(user);
      if (conversation === undefined || member?.present !== true) return { conv: item.conv, status: 'unknown' };
      return { conv: item.conv, status: advance(conversation, member, item), read_seq: member.read };
    });
    this.#commit([user], 'read');
    return answers;
  }

  mark(user: string, conv: string, fromSeq: number | undefined, readEpoch: number | undefined): AckedItem[] {
    return this.#change(user, conv, 'mark', (member) => {
      if (readEpoch !== undefined && readEpoch !== member.readEpoch) return 'stale';
      if (fromSeq === undefined && member.marked) return 'stale';
      member.readEpoch++;
      if (fromSeq === undefined) member.marked = true;
      else member.read = Math.max(member.join, member.cleared, fromSeq - 1);
      return 'applied';
    });
  }

  prefs(user: string, conv: string, muted: boolean | undefined, hidden: boolean | undefined): AckedItem[] {
    return this.#change(user, conv, 'prefs', (member, head) => {
      if (muted !== undefined) member.muted = muted;
      if (hidden !== undefined) member.hiddenAt = hidden ? head : null;
      return 'applied';
    });
  }

  clear(user: string, conv: string, upTo: number | undefined): AckedItem[] {
    return this.#change(user, conv, 'clear', (member, head) => {
      member.cleared = Math.max(member.cleared, Math.min(upTo ?? head, head));
      if (this.#row(conv, user).unread === 0) member.awayAt = head;
      return 'applied';
    });
  }

  /** [AK8] Null: a foreign epoch. */
  readAll(user: string, epoch: string | undefined, atVersion: number): AckedItem[] | null {
    const state = this.state(user);
    if (epoch !== undefined && epoch !== state.epoch) return null;
    const stale: AckedItem[] = [];
    for (const row of [...state.rows.values()].filter(({ gone }) => gone !== true)) {
      const member = this.#conversation(row.conv).members.get(user);
      if (member === undefined) continue;
      if (row.version > atVersion) stale.push({ conv: row.conv, status: 'stale', read_seq: row.read_seq });
      else advance(this.#conversation(row.conv), member, { conv: row.conv, seq: Number.MAX_SAFE_INTEGER });
    }
    this.#commit([user], 'read');
    return stale;
  }

  #change(user: string, conv: string, op: Op, change: (member: Membership, head: number) => AckStatus): AckedItem[] {
    const conversation = this.#conversations.get(conv);
    const member = conversation?.members.get(user);
    if (conversation === undefined || member?.present !== true) return [{ conv, status: 'unknown' }];
    const status = change(member, headOf(conversation));
    this.#commit([user], op);
    return [{ conv, status }];
  }

  #conversation(conv: string): Conversation {
    const conversation = this.#conversations.get(conv);
    if (conversation === undefined) throw new Error(`no conversation ${conv}`);
    return conversation;
  }

  #enter(conversation: Conversation, user: string): void {
    const before = conversation.members.get(user);
    conversation.members.set(user, {
      present: true,
      join: headOf(conversation),
      read: headOf(conversation),
      readEpoch: (before?.readEpoch ?? -1) + 1,
      cleared: 0,
      hiddenAt: null,
      awayAt: null,
      muted: false,
      marked: false,
    });
  }
}

function headOf(conversation: Conversation): number {
  return conversation.messages.length;
}

/** [AK1] [AK2] [AK7] */
function advance(conversation: Conversation, member: Membership, item: AckItem): AckStatus {
  const head = headOf(conversation);
  const seq = Math.min(item.seq ?? 0, head);
  if (item.read_epoch !== undefined && item.read_epoch !== member.readEpoch) return 'stale';
  if (seq >= head) member.marked = false;
  if (seq <= member.read) return 'stale';
  member.read = seq;
  member.marked = false;
  return (item.seq ?? 0) > head ? 'clamped' : 'applied';
}

function looksSame(a: Row | undefined, b: Row): boolean {
  const look = (row: Row) =>
    row.gone === true
      ? 'gone'
      : JSON.stringify([
          row.unread,
          row.mentions,
          row.read_seq,
          row.read_epoch,
          row.muted,
          row.marked,
          row.hidden,
          row.capped,
        ]);
  return a === undefined ? b.gone === true : look(a) === look(b);
}
