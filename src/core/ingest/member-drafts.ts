import type { Conversation, Membership } from '../facts.ts';
import type { Facts } from '../transaction-facts.ts';

/** Memberships of one conversation while a batch is applied. */
export class MemberDrafts {
  readonly #conv: string;
  readonly #before: Readonly<Conversation> | null;
  readonly #facts: Facts;
  readonly #details: Facts | null;

  readonly #rows = new Map<string, Membership>();
  readonly #stored = new Set<string>();
  readonly #touched = new Set<string>();
  /** Own ordinals of senders without a membership row, which would keep it (DT4: a sender need not be a member). */
  readonly #ownOrds = new Map<string, number>();

  constructor(conv: string, before: Readonly<Conversation> | null, facts: Facts, details: Facts | null) {
    this.#conv = conv;
    this.#before = before;
    this.#facts = facts;
    this.#details = details;
  }

  /** Users whose own membership changed in a way that their row can show. */
  get touched(): readonly string[] {
    return [...this.#touched];
  }

  row(user: string): Readonly<Membership> | null {
    const held = this.#rows.get(user);
    if (held !== undefined) return held;
    const loaded = this.#facts.membership(this.#conv, user);
    if (loaded !== null) this.#rows.set(user, { ...loaded });
    return loaded;
  }

  /** Changes what a row can show: raises `rev`, once a batch. */
  revise(membership: Membership): void {
    this.store({ ...membership, rev: this.#revBefore(membership.user) + 1 });
    this.#touched.add(membership.user);
  }

  /** Changes only what no row shows. */
  store(membership: Membership): void {
    this.#rows.set(membership.user, membership);
    this.#stored.add(membership.user);
  }

  /** The user's own countable messages so far. */
  ownOrd(user: string): number {
    return this.row(user)?.ownOrd ?? this.#ownOrds.get(user) ?? this.ownOrdBefore(user);
  }

  ownOrdBefore(user: string): number {
    if (this.#before === null || this.#before.headSeq === 0) return 0;
    const loaded = this.#facts.membership(this.#conv, user);
    return loaded?.ownOrd ?? this.#details?.ownPlace(this.#conv, user, this.#before.headSeq) ?? 0;
  }

  /** Without a rev of its own: the conversation's rises with the same message. */
  setOwnOrd(user: string, ownOrd: number): void {
    const membership = this.row(user);
    if (membership === null) this.#ownOrds.set(user, ownOrd);
    else this.store({ ...membership, ownOrd });
  }

  writes(): readonly Membership[] {
    return [...this.#rows.values()].filter(({ user }) => this.#stored.has(user));
  }

  #revBefore(user: string): number {
    return this.#facts.membership(this.#conv, user)?.rev ?? 0;
  }
}
