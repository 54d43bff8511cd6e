import type { Op } from '../../protocol/index.ts';
import { logError } from '../log.ts';
import type { Log } from '../log.ts';
import type { LargeNotice } from '../ports.ts';
import type { Services } from '../services/services.ts';

export interface LargeDeps {
  readonly fanOut: Pick<Services['fanOut'], 'refreshLarge'>;
  readonly log: Log;
}

/** Conversations whose last notice is remembered, for those who are just about to say that they are members. */
const RECENT_MAX = 10_000;

/**
 * Large conversations (CN8) and their members on this node: a notice makes this node derive the rows of these members, and of nobody
 * else. One refresh of a conversation at a time; notices meanwhile become one more.
 */
export class LargeConversations {
  readonly #deps: LargeDeps;
  readonly #isLocal: (user: string) => boolean;
  readonly #members = new Map<string, Set<string>>();
  readonly #byUser = new Map<string, Set<string>>();
  /** Number of the last notice of a conversation; the oldest first. */
  readonly #recent = new Map<string, number>();
  #noticeCount = 0;
  /** Notices up to this one may have been forgotten. */
  #forgottenUpTo = 0;
  /** The op of what came while a refresh was under way; null: nothing came. */
  readonly #refreshing = new Map<string, Op | null>();

  constructor(deps: LargeDeps, isLocal: (user: string) => boolean) {
    this.#deps = deps;
    this.#isLocal = isLocal;
  }

  /** To be taken before a user's state is read, and given to `register` after it. */
  get mark(): number {
    return this.#noticeCount;
  }

  /** The user is a member of these. What was announced since the mark may not be in the view that named them: it is derived again. */
  register(user: string, convs: readonly string[], mark: number): void {
    if (convs.length === 0 || !this.#isLocal(user)) return;
    for (const conv of convs) {
      const isNew = this.#add(user, conv);
      const isMissed = mark < this.#forgottenUpTo || (this.#recent.get(conv) ?? 0) > mark;
      if (isNew && isMissed) void this.#refresh(conv, [user], 'merged');
    }
  }

  forget(user: string): void {
    for (const conv of this.#byUser.get(user) ?? []) {
      const members = this.#members.get(conv);
      members?.delete(user);
      if (members?.size === 0) this.#members.delete(conv);
    }
    this.#byUser.delete(user);
  }

  notices(notices: readonly LargeNotice[]): void {
    for (const { conv, op, newcomers } of notices) {
      this.#remember(conv);
      for (const user of newcomers) if (this.#isLocal(user)) this.#add(user, conv);
      this.#refreshMembers(conv, op);
    }
  }

  /** Answers whether this is new. */
  #add(user: string, conv: string): boolean {
    const members = this.#members.get(conv);
    if (members?.has(user) === true) return false;
    if (members === undefined) this.#members.set(conv, new Set([user]));
    else members.add(user);
    const convs = this.#byUser.get(user);
    if (convs === undefined) this.#byUser.set(user, new Set([conv]));
    else convs.add(conv);
    return true;
  }

  #remember(conv: string): void {
    this.#recent.delete(conv);
    this.#recent.set(conv, ++this.#noticeCount);
    if (this.#recent.size <= RECENT_MAX) return;
    for (const [oldest, count] of this.#recent) {
      this.#recent.delete(oldest);
      this.#forgottenUpTo = count;
      return;
    }
  }

  #refreshMembers(conv: string, op: Op): void {
    const members = this.#members.get(conv);
    if (members === undefined) return;
    const waiting = this.#refreshing.get(conv);
    if (waiting !== undefined) {
      this.#refreshing.set(conv, waiting === null || waiting === op ? op : 'merged');
      return;
    }
    this.#refreshing.set(conv, null);
    void this.#refresh(conv, [...members], op).then(() => {
      const next = this.#refreshing.get(conv);
      this.#refreshing.delete(conv);
      if (next !== undefined && next !== null) this.#refreshMembers(conv, next);
    });
  }

  /** Never throws: what fails here is found by the next notice, the background comparison, and the next hello. */
  async #refresh(conv: string, users: readonly string[], op: Op): Promise<void> {
    try {
      await this.#deps.fanOut.refreshLarge(conv, users, op);
    } catch (error) {
      logError(this.#deps.log, error, 'rows of a large conversation were not refreshed');
    }
  }
}
