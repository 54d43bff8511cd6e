/**
 * Flow 4, ack, and the other commands of a user (ARCHITECTURE, flows): durable in truth, then in the state, then on every device, then answered.
 *
 *   lane of the user → gather jobs of many users → one transaction: load, draft, settle (core/commands), store, derive → commit
 *   → offer to the state → push → answer
 */
import type { AckedItem, AckItem } from '../../protocol/index.ts';
import { readAllItems } from '../core/commands/read-all.ts';
import { canBeNamed } from '../core/row-bytes.ts';
import type { StateCall, StateHead } from '../core/change-set.ts';
import type { Deadline } from '../deadline.ts';
import { Unavailable, UserFault } from '../errors.ts';
import type { Metrics } from '../metrics.ts';
import type { Clock, StateStore, Truth } from '../ports.ts';
import { Batcher } from './batcher.ts';
import { CommandLanes, isWaitedFor, type Queued } from './command-lanes.ts';
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

/** With who waits for each of its commands. */
interface QueuedJob extends UserJob {
  readonly queued: readonly Queued<Command, CommandAnswer>[];
}

/**
 * Conversations named by one transaction. Where truth is embedded nothing else runs meanwhile, so it is this that bounds how long
 * every socket of the node waits, whatever anybody sends; a job that names more (read_all) is alone.
 */
const BATCH_ITEMS_MAX = 500;
const WAITING_ITEMS_MAX = 100_000;
/** More than one socket can have sent before it is no longer read (1000, and one chunk of the network full of the shortest frames). */
const LANE_WAITING_MAX = 8000;
/** Ack frames of one user are carried out as one up to so many items. */
const ITEMS_TOGETHER_MAX = 500;
/** Answers that may wait for the state to come back; beyond it a command is refused although it is durable, and a resend is harmless. */
const UNSHOWN_MAX = 10_000;
const SHOW_AGAIN_MS = 250;
const NO_ACK: UserCommand = { kind: 'ack', items: [] };

export class Commands {
  readonly #deps: CommandsDeps;
  readonly #lanes: CommandLanes<Command, CommandAnswer>;
  readonly #jobs: Batcher<QueuedJob, JobOutcome>;
  readonly #unshown = new Set<Promise<void>>();

  constructor(deps: CommandsDeps) {
    this.#deps = deps;
    this.#lanes = new CommandLanes({
      run: (user, queued) => this.#runLane(user, queued),
      countTogether: acksInFront,
      waitingMax: LANE_WAITING_MAX,
    });
    this.#jobs = new Batcher({
      run: (jobs) => commitJobs(deps, jobs.map(stillWaitedFor)),
      isolates: (error) => !(error instanceof Unavailable),
      weightOf: ({ commands }) => commands.reduce((items, command) => items + itemsIn(command), 0),
      batchWeightMax: BATCH_ITEMS_MAX,
      waitingWeightMax: WAITING_ITEMS_MAX,
      soon: (run) => deps.clock.soon(run),
      deadlineOf: ({ deadline }) => deadline,
    });
  }

  /** AK1–AK4. One answer an item, in order. */
  ack(user: string, items: readonly AckItem[], deadline?: Deadline): Promise<CommandAnswer> {
    return this.#lanes.add(user, { kind: 'ack', items }, deadline);
  }

  /** AK7. */
  mark(
    user: string,
    mark: { conv: string; from_seq?: number | undefined; read_epoch?: number | undefined },
    deadline?: Deadline,
  ): Promise<CommandAnswer> {
    const { conv, from_seq: fromSeq, read_epoch: readEpoch } = mark;
    return this.#lanes.add(user, { kind: 'mark', conv, fromSeq, readEpoch }, deadline);
  }

  /** LC4, LC5. */
  prefs(
    user: string,
    prefs: { conv: string; muted?: boolean | undefined; hidden?: boolean | undefined },
    deadline?: Deadline,
  ): Promise<CommandAnswer> {
    const { conv, muted, hidden } = prefs;
    return this.#lanes.add(user, { kind: 'prefs', conv, muted, hidden }, deadline);
  }

  /** LC3. */
  clear(
    user: string,
    { conv, up_to_seq: upToSeq }: { conv: string; up_to_seq?: number | undefined },
    deadline?: Deadline,
  ): Promise<CommandAnswer> {
    return this.#lanes.add(user, { kind: 'clear', conv, upToSeq }, deadline);
  }

  /** AK8. Rejects with `stale_cursor` when the epoch is not the present one, or the version too old or not given out yet; then nothing has moved. */
  readAll(
    user: string,
    { epoch, sync_version: syncVersion }: { epoch?: string | undefined; sync_version?: number | undefined },
    deadline?: Deadline,
  ): Promise<CommandAnswer> {
    return this.#lanes.add(user, { kind: 'read_all', epoch, syncVersion }, deadline);
  }

  /** Resolves when every command received has been answered. */
  async flush(): Promise<void> {
    await this.#lanes.idle();
    while (this.#unshown.size > 0) await Promise.allSettled(this.#unshown);
  }

  async #runLane(user: string, queued: readonly Queued<Command, CommandAnswer>[]): Promise<void> {
    try {
      const commands = queued.map(({ command }) => command);
      const [first] = commands;
      if (first?.kind === 'read_all') await this.#readAll(user, first, queued);
      else await this.#commit(user, commands as readonly UserCommand[], queued, (items) => items);
    } catch (error) {
      for (const { reject } of queued) reject(error);
    }
  }

  async #readAll(
    user: string,
    { epoch, syncVersion }: Extract<Command, { kind: 'read_all' }>,
    queued: readonly Queued<Command, CommandAnswer>[],
  ): Promise<void> {
    const deadline = queued.at(-1)?.deadline;
    const read = () => this.#deps.sync.view(user);
    const view = await (deadline?.again(read) ?? read());
    if (epoch !== undefined && epoch !== view.epoch) {
      throw new UserFault('stale_cursor', 'the epoch is not the present one; sync first', 'epoch');
    }
    if (syncVersion !== undefined && syncVersion > view.syncVersion) {
      throw new UserFault('stale_cursor', 'the version is above the present one; sync first', 'sync_version');
    }
    const { acks, stale } = readAllItems(user, view.rows, syncVersion ?? null);
    if (!canBeNamed(stale)) {
      const message = 'more rows have changed since this version than one frame can name; sync first';
      throw new UserFault('stale_cursor', message, 'sync_version');
    }
    const command: UserCommand = { kind: 'ack', items: acks.map(({ item }) => item) };
    await this.#commit(user, [command], queued, ([items = []]) => {
      // What moved shows in the delta. Named is only what stayed because it had changed, here or while this ran.
      const named = new Map<string, AckedItem>(stale.map((conv) => [conv, { conv, status: 'stale' }]));
      for (const item of items) {
        if (item.status === 'stale' && (item.unread ?? 0) > 0) named.set(item.conv, item);
      }
      return [[...named.values()]];
    });
  }

  /** One job in the common transaction, then the state, then every device of the user (AK5), then the answers. */
  async #commit(
    user: string,
    commands: readonly UserCommand[],
    queued: readonly Queued<Command, CommandAnswer>[],
    itemsOf: (items: AckedItem[][]) => AckedItem[][],
  ): Promise<void> {
    // In the order received, so the last one is waited for longest.
    const deadline = queued.at(-1)?.deadline;
    const { items, call, outboxIds } = await this.#jobs.add({ user, commands, deadline, queued });
    for (const item of items.flat()) this.#deps.metrics.acked(item.status);
    const lists = itemsOf(items);
    const answer = async (head: StateHead): Promise<void> => {
      queued.forEach(({ resolve }, i) => resolve({ ...head, items: lists[i] ?? [] }));
      if (outboxIds.length > 0) await this.#deps.truth.outboxDone(outboxIds);
    };
    try {
      void answer(await this.#show(user, call)).catch(this.#deps.onError);
    } catch (error) {
      if (!(error instanceof Unavailable) || this.#unshown.size >= UNSHOWN_MAX) throw error;
      // DT8: durable it is. The lane goes on, so that what comes next becomes durable too; the answer follows when the state is back.
      const shown = this.#showWhenBack(user, call, deadline).then(answer);
      this.#unshown.add(shown);
      shown
        .catch((fault: unknown) => {
          for (const { reject } of queued) reject(fault);
        })
        .finally(() => this.#unshown.delete(shown));
    }
  }

  /** No longer than somebody waits; what is not shown by then the relay fans out, and the command sent again is `stale`. */
  async #showWhenBack(user: string, call: StateCall | null, deadline: Deadline | undefined): Promise<StateHead> {
    for (;;) {
      deadline?.demand();
      await new Promise<void>((resolve) => this.#deps.clock.after(SHOW_AGAIN_MS, resolve));
      try {
        return await this.#show(user, call);
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
      }
    }
  }

  async #show(user: string, call: StateCall | null): Promise<StateHead> {
    for (;;) {
      const answer = call && (await this.#deps.refresh.offer([call])).get(user);
      if (answer?.kind === 'applied') return answer.head;
      // No live state: the answer needs one, and it is built from what has just been committed.
      const head = await this.#deps.sync.head(user);
      // But a build that was met may have read truth before the commit, and its node may be slow to derive what came meanwhile, or dead.
      if (answer?.kind !== 'building') return head;
    }
  }
}

/** Acks that run together do not become late together: those that have while the job waited are refused, and ask for nothing. */
function stillWaitedFor({ user, commands, deadline, queued }: QueuedJob): UserJob {
  const due = commands.map((command, i) => {
    const waiting = queued[i];
    return waiting === undefined || isWaitedFor(waiting) ? command : NO_ACK;
  });
  return { user, commands: due, deadline };
}

function acksInFront(lane: readonly Queued<Command, CommandAnswer>[]): number {
  let count = 0;
  let items = 0;
  for (const { command } of lane) {
    if (command.kind !== 'ack') break;
    items += itemsIn(command);
    if (items > ITEMS_TOGETHER_MAX) break;
    count++;
  }
  return Math.max(1, count);
}

/** At least 1: an empty list takes a place too. */
function itemsIn(command: Command): number {
  return command.kind === 'ack' ? Math.max(1, command.items.length) : 1;
}
