/**
 * Flow 1, post: a batch of events becomes durable facts (ARCHITECTURE, flows).
 *
 *   check → gather → one transaction: lock, load, plan (core/ingest), store, commit → answer → fan-out
 */
import { checkEvent } from '../../protocol/index.ts';
import type { Event, EventResult } from '../../protocol/index.ts';
import { sha1Hex } from '../../protocol/sha1.ts';
import { fingerprintText } from '../core/ingest/fingerprint.ts';
import { planIngest } from '../core/ingest/plan.ts';
import type { IngestPlan } from '../core/ingest/plan.ts';
import { ingestDetailsRequest, ingestRequest } from '../core/ingest/request.ts';
import type { Deadline } from '../deadline.ts';
import { Unavailable } from '../errors.ts';
import type { Metrics } from '../metrics.ts';
import type { Clock, OutboxTarget, Truth } from '../ports.ts';
import { Batcher } from './batcher.ts';
import type { FanOut } from './fan-out.ts';

export interface PostDeps {
  readonly truth: Truth;
  readonly fanOut: FanOut;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** Whether the state outlives this process, so that each change owes an outbox row. */
  readonly keepsOutbox: boolean;
  readonly onError: (error: unknown) => void;
}

/**
 * Events of one transaction, those that name many users counted by what they cost. Where truth is embedded nothing else runs
 * meanwhile, so it is this that bounds how long every socket of the node waits; a heavier event is alone.
 */
const BATCH_WEIGHT_MAX = 500;
const WAITING_WEIGHT_MAX = 20_000;
/** So many names of an event (members, mentions) cost as much as one message. */
const NAMES_A_MESSAGE = 4;
/** Activity numbers per millisecond, so that messages of one millisecond keep their order in lists. */
const ACTIVITIES_PER_MS = 1024;

interface Request {
  readonly events: readonly Event[];
  readonly deadline: Deadline | undefined;
}

interface Accepted {
  readonly results: readonly EventResult[];
  /** Resolves when the whole batch has been offered to the state. */
  readonly shown: Promise<unknown>;
}

const NOTHING: Accepted = { results: [], shown: Promise.resolve() };
/** An answer waits so long at most for its changes to reach the state. */
const SHOWN_WAIT_MS = 500;

export class Post {
  readonly #deps: PostDeps;
  readonly #batches: Batcher<Request, Accepted>;
  #lastActivity = 0;
  /** Of the batch under way; they never reject. */
  #fanOuts: Promise<void>[] = [];

  constructor(deps: PostDeps) {
    this.#deps = deps;
    this.#batches = new Batcher({
      run: (requests) => this.#commit(requests),
      weightOf: ({ events }) => events.reduce((weight, event) => weight + weightOf(event), 0),
      batchWeightMax: BATCH_WEIGHT_MAX,
      waitingWeightMax: WAITING_WEIGHT_MAX,
      soon: (run) => deps.clock.soon(run),
      deadlineOf: ({ deadline }) => deadline,
    });
  }

  /**
   * Answers one result an event, in order; a bad event does not stop the others. When it answers, what was accepted is durable.
   * Throws Unavailable when truth cannot be reached: then nothing may be assumed, and a retry of the same events is harmless (OR2, DT3).
   */
  async post(values: readonly unknown[], deadline?: Deadline): Promise<EventResult[]> {
    const checked = values.map(checkEvent);
    const events = checked.flatMap((one) => (one.ok ? [one.event] : []));
    const { results: answers, shown } = events.length > 0 ? await this.#batches.add({ events, deadline }) : NOTHING;
    let next = 0;
    const results = checked.map((one): EventResult =>
      one.ok ? (answers[next++] as EventResult) : { ok: false, error: one.error },
    );
    await this.#patiently(shown);
    this.#deps.metrics.eventsAnswered(values, results);
    return results;
  }

  /** Resolves when everything accepted has been answered and fanned out. */
  async settled(): Promise<void> {
    await this.#batches.idle();
    await this.#deps.fanOut.settled();
  }

  /** Whoever says hello after the answer finds what was accepted; but a state that is slow does not make the answer wait for long. */
  async #patiently(shown: Promise<unknown>): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const cancel = this.#deps.clock.after(SHOWN_WAIT_MS, resolve);
    await Promise.race([shown, late]);
    cancel();
  }

  async #commit(requests: readonly Request[]): Promise<Accepted[]> {
    const results: EventResult[] = [];
    for (const events of transactionsOf(requests.flatMap(({ events }) => events))) {
      await this.#deps.fanOut.room();
      results.push(...(await this.#commitOrSplit(events)));
      for (const { deadline } of requests) deadline?.goesOn();
    }
    let start = 0;
    const shown = Promise.all(this.#fanOuts.splice(0));
    return requests.map(({ events }) => ({ results: results.slice(start, (start += events.length)), shown }));
  }

  /** A transaction that fails for anything but unreachable truth is split in halves until the culprit stands alone (ARCHITECTURE, truth and state). */
  async #commitOrSplit(events: readonly Event[]): Promise<readonly EventResult[]> {
    try {
      return await this.#transact(events);
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      if (events.length === 1) {
        this.#deps.onError(error);
        return [{ ok: false, error: { code: 'internal', message: 'the event could not be stored' } }];
      }
      const half = events.length >> 1;
      return [
        ...(await this.#commitOrSplit(events.slice(0, half))),
        ...(await this.#commitOrSplit(events.slice(half))),
      ];
    }
  }

  async #transact(events: readonly Event[]): Promise<readonly EventResult[]> {
    const { truth, clock, fanOut, metrics, onError } = this.#deps;
    const fingerprints = events.map((event) => sha1Hex(fingerprintText(event)));
    const { plan, outboxIds } = await truth.transact(async (tx) => {
      const facts = await tx.load(ingestRequest(events));
      const more = ingestDetailsRequest(events, facts);
      const details = more ? await tx.load(more) : null;
      const nowMs = clock.nowMs();
      for (const { conv } of events) this.#noteActivity(facts.conversation(conv)?.activity ?? 0);
      const nextActivity = () => this.#nextActivity(nowMs);
      const plan = planIngest({ events, fingerprints, facts, details, nowMs, nextActivity });
      const outbox = this.#deps.keepsOutbox ? outboxOf(plan) : [];
      return { plan, outboxIds: await tx.store({ ...plan.writes, outbox }) };
    });
    if (plan.lateInserts > 0) metrics.lateInserts(plan.lateInserts);
    // The next batch does not wait for it: accepted is accepted. What fails is fanned out again by the relay or found by the next hello.
    const offered = fanOut.add(plan.changes);
    offered.then(() => (outboxIds.length > 0 ? truth.outboxDone(outboxIds) : undefined)).catch(onError);
    this.#fanOuts.push(offered.catch(() => {}));
    return plan.results;
  }

  /** DT7: what came before this process, or from a node whose clock is ahead, is older all the same. */
  #noteActivity(activity: number): void {
    this.#lastActivity = Math.max(this.#lastActivity, activity);
  }

  #nextActivity(nowMs: number): number {
    this.#lastActivity = Math.max(this.#lastActivity + 1, nowMs * ACTIVITIES_PER_MS);
    return this.#lastActivity;
  }
}

/** The events in their order, cut into what one transaction takes. */
function transactionsOf(events: readonly Event[]): Event[][] {
  const cut: Event[][] = [];
  let left = 0;
  for (const event of events) {
    const weight = weightOf(event);
    if (weight > left) {
      cut.push([]);
      left = BATCH_WEIGHT_MAX;
    }
    cut.at(-1)?.push(event);
    left -= weight;
  }
  return cut;
}

function weightOf(event: Event): number {
  const lists = event as { members?: string[]; users?: string[]; mentions?: string[] };
  const names = (lists.members?.length ?? 0) + (lists.users?.length ?? 0) + (lists.mentions?.length ?? 0);
  return 1 + names / NAMES_A_MESSAGE;
}

function outboxOf(plan: IngestPlan): OutboxTarget[] {
  return plan.changes.flatMap(({ conv, touched }) => [
    { conv, user: null },
    ...touched.map((user) => ({ conv, user })),
  ]);
}
