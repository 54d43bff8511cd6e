/**
 * Flow 4, ack, and the other commands of a user (DESIGN §3): durable in truth, then in the state, then on every device, then answered.
 *
 *   lane of the user → gather jobs of many users → one transaction: load, draft, settle (core/commands), store, derive → commit
 *   → offer to the state → push → answer
 */
import type { AckedItem, AckItem } from '../../protocol/index.ts';
import { readAllItems } from '../core/commands/read-all.ts';
import type { StateCall, StateHead } from '../core/change-set.ts';
import { Unavailable, UserFault } from '../errors.ts';
import type { Metrics } from '../metrics.ts';
import type { Clock, StateStore, Truth } from '../ports.ts';
import { Batcher } from './batcher.ts';
import { CommandLanes, type Queued } from './command-lanes.ts';
import { commitJobs, type JobOutcome, type UserCommand, type UserJob } from './command-transaction.ts';
import type { Refresh } from './refresh.ts';
import type { Sync } from './sync.ts';

export interface CommandsDeps {
  readonly truth: Truth;
  readonly state: StateStore;
  readonly refresh: Refresh;
  readonly sync: Sync;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly groupThreshold: number;
  readonly keepsOutbox: boolean;
  readonly onError: (error: unknown) => void;
}

/** Where the user stands with the effect of the command in it, and what became of each item. */
export interface CommandAnswer extends StateHead {
  readonly items: AckedItem[];
}

type Command =
  | UserCommand
  | { readonly kind: 'read_all'; readonly epoch: string | undefined; readonly syncVersion: number | undefined };

/** Jobs of one transaction; a job is one user's. */
const BATCH_JOBS_MAX = 200;
const WAITING_JOBS_MAX = 20_000;
const LANE_WAITING_MAX = 2000;
/** Ack frames of one user that are carried out as one. */
const ACKS_TOGETHER_MAX = 500;

export class Commands {
  readonly #deps: CommandsDeps;
  readonly #lanes: CommandLanes<Command, CommandAnswer>;
  readonly #jobs: Batcher<UserJob, JobOutcome>;

  constructor(deps: CommandsDeps) {
    this.#deps = deps;
    this.#lanes = new CommandLanes({
      run: (user, queued) => this.#runLane(user, queued),
      countTogether: acksInFront,
      waitingMax: LANE_WAITING_MAX,
    });
    this.#jobs = new Batcher({
      run: (jobs) => commitJobs(deps, jobs),
      isolates: (error) => !(error instanceof Unavailable),
      batchWeightMax: BATCH_JOBS_MAX,
      waitingWeightMax: WAITING_JOBS_MAX,
      soon: (run) => deps.clock.soon(run),
    });
  }

  /** AK1–AK4. One answer an item, in order. */
  ack(user: string, items: readonly AckItem[]): Promise<CommandAnswer> {
    return this.#lanes.add(user, { kind: 'ack', items });
  }

  /** AK7. */
  mark(
    user: string,
    mark: { conv: string; from_seq?: number | undefined; read_epoch?: number | undefined },
  ): Promise<CommandAnswer> {
    return this.#lanes.add(user, { kind: 'mark', conv: mark.conv, fromSeq: mark.from_seq, readEpoch: mark.read_epoch });
  }

  /** LC4, LC5. */
  prefs(
    user: string,
    prefs: { conv: string; muted?: boolean | undefined; hidden?: boolean | undefined },
  ): Promise<CommandAnswer> {
    return this.#lanes.add(user, { kind: 'prefs', conv: prefs.conv, muted: prefs.muted, hidden: prefs.hidden });
  }

  /** LC3. */
  clear(user: string, clear: { conv: string; up_to_seq?: number | undefined }): Promise<CommandAnswer> {
    return this.#lanes.add(user, { kind: 'clear', conv: clear.conv, upToSeq: clear.up_to_seq });
  }

  /** AK8. Rejects with `stale_cursor` when the epoch is not the present one; then nothing has moved. */
  readAll(user: string, at: { epoch?: string | undefined; sync_version?: number | undefined }): Promise<CommandAnswer> {
    return this.#lanes.add(user, { kind: 'read_all', epoch: at.epoch, syncVersion: at.sync_version });
  }

  /** Resolves when every command received has been answered. */
  flush(): Promise<void> {
    return this.#lanes.idle();
  }

  async #runLane(user: string, queued: readonly Queued<Command, CommandAnswer>[]): Promise<void> {
    try {
      const answers = await this.#carryOut(
        user,
        queued.map(({ command }) => command),
      );
      queued.forEach(({ resolve }, i) => resolve(answers[i] as CommandAnswer));
    } catch (error) {
      for (const { reject } of queued) reject(error);
    }
  }

  async #carryOut(user: string, commands: readonly Command[]): Promise<CommandAnswer[]> {
    const [first] = commands;
    if (first?.kind === 'read_all') return [await this.#carryOutReadAll(user, first.epoch, first.syncVersion)];
    const { items, head } = await this.#commit(user, commands as readonly UserCommand[]);
    return items.map((list) => ({ ...head, items: list }));
  }

  async #carryOutReadAll(
    user: string,
    epoch: string | undefined,
    syncVersion: number | undefined,
  ): Promise<CommandAnswer> {
    const view = await this.#deps.sync.view(user);
    if (epoch !== undefined && epoch !== view.epoch) {
      throw new UserFault('stale_cursor', 'the epoch is not the present one; sync first', 'epoch');
    }
    const { acks, stale } = readAllItems(user, view.rows, syncVersion ?? null);
    const { items, head } = await this.#commit(user, [{ kind: 'ack', items: acks.map(({ item }) => item) }]);
    // What moved shows in the delta. Named is only what stayed because it had changed, here or while this ran.
    const named = new Map<string, AckedItem>(stale.map((conv) => [conv, { conv, status: 'stale' }]));
    for (const item of items[0] ?? [])
      if (item.status === 'stale' && (item.unread ?? 0) > 0) named.set(item.conv, item);
    return { ...head, items: [...named.values()] };
  }

  /** One job in the common transaction, then the state, then every device of the user (AK5). */
  async #commit(user: string, commands: readonly UserCommand[]): Promise<{ items: AckedItem[][]; head: StateHead }> {
    const { items, call, outboxIds } = await this.#jobs.add({ user, commands });
    const head = await this.#show(user, call);
    if (outboxIds.length > 0) this.#deps.truth.outboxDone(outboxIds).catch(this.#deps.onError);
    for (const item of items.flat()) this.#deps.metrics.acked(item.status);
    return { items, head };
  }

  async #show(user: string, call: StateCall | null): Promise<StateHead> {
    if (call) {
      const answer = (await this.#deps.refresh.offer([call])).get(user);
      if (answer?.kind === 'applied') return answer.head;
    }
    // No live state: the answer needs one, and it is built from what has just been committed.
    const { epoch, syncVersion, total, badge, mentions, digest } = await this.#deps.sync.view(
      user,
      Number.MAX_SAFE_INTEGER,
    );
    return { epoch, syncVersion, total, badge, mentions, digest };
  }
}

function acksInFront(lane: readonly Queued<Command, CommandAnswer>[]): number {
  let count = 0;
  while (count < ACKS_TOGETHER_MAX && lane[count]?.command.kind === 'ack') count++;
  return Math.max(1, count);
}
