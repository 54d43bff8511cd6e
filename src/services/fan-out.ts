/**
 * Flow 2, fan-out: from a committed change of a conversation to the rows of its members (ARCHITECTURE, flows).
 *
 *   small conversation   every member with live state gets the part, in batched state calls
 *   large conversation   one notice to the nodes; each derives the rows of its own connected members; everybody else
 *                        is brought up to date when they next ask
 *
 * Changes gather while a round is in flight and merge per conversation: rows are absolute, so merged, repeated, reordered or
 * dropped rounds end at the same numbers.
 */
import type { Op } from '../../protocol/index.ts';
import type { ConversationChange } from '../core/ingest/plan.ts';
import { Deadline } from '../deadline.ts';
import type {
  Clock,
  ConversationPart,
  LargeNotice,
  OutboxTarget,
  StateCall,
  StateStore,
  Truth,
  Wakeup,
} from '../ports.ts';
import { Batcher } from './batcher.ts';
import { MemberLists } from './member-lists.ts';
import { mergeChanges, type PendingChange } from './pending-change.ts';
import type { Refresh } from './refresh.ts';

export interface FanOutDeps {
  readonly truth: Truth;
  readonly state: StateStore;
  readonly wakeup: Wakeup;
  readonly refresh: Refresh;
  readonly clock: Clock;
  readonly groupThreshold: number;
  /** Notices of one large conversation are merged for so long. */
  readonly largeMergeMs: number;
  /** Told of what could not be fanned out; what is lost here is found by the relay, the background comparison and the next hello. */
  readonly onError: (error: unknown) => void;
}

/** Committed changes that may wait for their fan-out before posting has to wait too. */
const WAITING_CHANGES_MAX = 10_000;
/** Names in the member lists that are kept, about 40 bytes each. */
const KEPT_NAMES_MAX = 1_000_000;
const NO_REV = -1;
const NO_ROWS: StateCall['rows'] = [];

export class FanOut {
  readonly #deps: FanOutDeps;
  readonly #rounds: Batcher<readonly ConversationChange[], undefined>;
  readonly #members: MemberLists;
  #large = new Map<string, LargeNotice>();
  #largeTimer: (() => void) | null = null;

  constructor(deps: FanOutDeps) {
    this.#deps = deps;
    this.#members = new MemberLists(KEPT_NAMES_MAX, (conv) => deps.truth.membersOf(conv));
    this.#rounds = new Batcher({
      run: async (lists) => {
        const changes = lists.flat();
        // A connection that was cut is back sooner than the relay comes by; revs make it harmless to offer twice.
        await new Deadline(deps.clock).again(() => this.#round(changes));
        return lists.map(() => undefined);
      },
      weightOf: (changes) => changes.length,
      batchWeightMax: Infinity,
      waitingWeightMax: Infinity,
      soon: (run) => run(),
    });
  }

  /** Takes over committed changes. Resolves when they have been offered to the state (or found missing there). */
  async add(changes: readonly ConversationChange[]): Promise<void> {
    if (changes.length > 0) await this.#rounds.add(changes);
  }

  /** Resolves when there is room for more changes: posting waits for it, so that a slow state makes posts slow, not a queue long. */
  async room(): Promise<void> {
    if (this.#rounds.waitingWeight > WAITING_CHANGES_MAX) await this.#rounds.idle();
  }

  /** Resolves when nothing waits or runs. */
  async settled(): Promise<void> {
    await this.#rounds.idle();
    this.#flushLarge();
  }

  /**
   * Flow 3: fans out again what somebody began and perhaps did not end. Nothing is known of what the changes were, so the rows of all
   * whom they may concern are derived.
   */
  async again(targets: readonly OutboxTarget[]): Promise<void> {
    const { truth, refresh } = this.#deps;
    const convs = [...new Set(targets.flatMap(({ conv, user }) => (user === null ? [conv] : [])))];
    for (const [conv, rev] of await truth.revsOf(convs)) await this.#conversationAgain(conv, rev);
    const byUser = new Map<string, Set<string>>();
    for (const { conv, user } of targets) {
      if (user !== null) byUser.set(user, (byUser.get(user) ?? new Set()).add(conv));
    }
    await refresh.refresh([...byUser].map(([user, set]) => ({ user, convs: [...set], op: 'merged' })));
  }

  async #conversationAgain(conv: string, rev: number): Promise<void> {
    const { truth, refresh, groupThreshold } = this.#deps;
    const users = await truth.membersOf(conv);
    const isLarge = users.length > groupThreshold;
    if (isLarge) await this.#notifyLarge({ conv, rev, op: 'merged', newcomers: [] });
    // CN8: the change may have been the one that made it large; rows from before that do not follow its notices.
    const part: ConversationPart = { ...derivePart(conv, rev), unlessLarge: isLarge };
    await refresh.offer(users.map((user) => ({ user, op: 'merged', rows: [], parts: [part] })));
  }

  /** Derives the rows of these members of a large conversation and pushes what changed. */
  async refreshLarge(conv: string, users: readonly string[], op: Op): Promise<void> {
    await this.#deps.refresh.refresh(users.map((user) => ({ user, convs: [conv], op })));
  }

  async #round(changes: readonly ConversationChange[]): Promise<void> {
    const pending = new Map<string, PendingChange>();
    for (const change of changes) pending.set(change.conv, mergeChanges(pending.get(change.conv), change));
    const calls = new Map<string, { user: string; op: Op; rows: typeof NO_ROWS; parts: ConversationPart[] }>();
    for (const change of pending.values()) {
      for (const [user, part] of await this.#targetsOf(change)) {
        const call = calls.get(user);
        if (!call) calls.set(user, { user, op: change.op, rows: NO_ROWS, parts: [part] });
        else {
          call.parts.push(part);
          if (call.op !== change.op) call.op = 'merged';
        }
      }
    }
    await this.#deps.refresh.offer([...calls.values()]);
  }

  /** Which users get which part of one change. */
  async #targetsOf(change: PendingChange): Promise<Map<string, ConversationPart>> {
    const threshold = this.#deps.groupThreshold;
    const isLarge = change.memberCount > threshold;
    const crossed = isLarge !== change.memberCountBefore > threshold;
    const derive = derivePart(change.conv, change.toRev);
    const targets = new Map<string, ConversationPart>();
    // CN8, DT1: a change set that crosses the threshold re-rates every row once; so does one that gives the members no part.
    if (!isLarge || crossed) {
      const part = crossed || !change.part ? derive : change.part;
      for (const user of await this.#members.of(change.conv, change.membersRev)) targets.set(user, part);
    }
    for (const user of change.touched) targets.set(user, derive);
    const newcomers = crossed ? [...targets.keys()] : [...change.touched];
    if (isLarge) await this.#notifyLarge({ conv: change.conv, rev: change.toRev, op: change.op, newcomers });
    return targets;
  }

  /** The revs are known to the state at once, so that whoever asks is right at once; the nodes are told in merged notices. */
  async #notifyLarge(notice: LargeNotice): Promise<void> {
    await this.#deps.state.raiseLarge(new Map([[notice.conv, notice.rev]]));
    const held = this.#large.get(notice.conv);
    const op = held && held.op !== notice.op ? 'merged' : notice.op;
    const newcomers = held ? [...new Set([...held.newcomers, ...notice.newcomers])] : notice.newcomers;
    this.#large.set(notice.conv, { conv: notice.conv, rev: Math.max(notice.rev, held?.rev ?? 0), op, newcomers });
    this.#largeTimer ??= this.#deps.clock.after(this.#deps.largeMergeMs, () => this.#flushLarge());
  }

  #flushLarge(): void {
    this.#largeTimer?.();
    this.#largeTimer = null;
    if (this.#large.size === 0) return;
    const notices = [...this.#large.values()];
    this.#large.clear();
    this.#deps.wakeup.publishLarge(notices).catch(this.#deps.onError);
  }
}

/** A part that follows on no rev: every live member who is behind answers that its row must be derived. */
function derivePart(conv: string, toRev: number): ConversationPart {
  return { conv, fromRev: NO_REV, toRev, headSeq: 0, activity: 0, messages: [] };
}
