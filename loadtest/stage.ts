/** What a scenario can do: people say things, take them back and read them, each at the time when it is due. */
import { BadgeLatency } from './badge-latency.ts';
import type { Cast, Conversation, Person } from './cast.ts';
import { Crowd } from './crowd.ts';
import { Histogram } from './histogram.ts';
import { Ledgers } from './ledger.ts';
import { runOpenLoop } from './open-loop.ts';
import { Poster } from './poster.ts';
import type { SeededRandom } from './random.ts';
import type { Scale, Scenario } from './scenario.ts';
import type { Target } from './target.ts';

export interface StageDeps {
  readonly target: Target;
  readonly cast: Cast;
  readonly random: SeededRandom;
  readonly scenario: Scenario;
  readonly scale: Scale;
}

/** Requests under way at once, as of one message service with several instances. */
const LANES = 8;
/** A message is only recalled when so many newer ones of its conversation are known, so that it has been shown to everybody. */
const RECALL_DEPTH = 3;

export class Stage {
  readonly cast: Cast;
  readonly random: SeededRandom;
  readonly scale: Scale;
  readonly crowd: Crowd;
  readonly ledgers = new Ledgers();
  readonly latency = new BadgeLatency();
  /** By kind of conversation. */
  readonly badgeTimes = new Map<string, Histogram>();
  /** What a scenario measures beyond that, by name. */
  readonly ownTimes = new Map<string, Histogram>();
  readonly counts = { messages: 0, reads: 0, recalls: 0 };
  /** What went wrong while it ran, in words. */
  readonly faults: string[] = [];
  readTimes = new Histogram();
  poster: Poster;
  readonly #deps: StageDeps;
  readonly #heads = new Map<string, number>();
  readonly #reads = new Set<Promise<void>>();
  #named = 0;

  constructor(deps: StageDeps) {
    const { target, cast, random, scale } = deps;
    this.#deps = deps;
    this.scale = scale;
    this.cast = cast;
    this.random = random;
    this.poster = this.#newPoster(target);
    this.crowd = new Crowd({ target, cast, watch: (user) => this.latency.watch(user) });
  }

  /** The conversations are there, every device is connected and shows them. */
  async set(): Promise<void> {
    for (const { conv, key, members } of this.cast.conversations) {
      this.ledgers.open(conv);
      const users = members.map(({ user }) => user);
      this.poster.post(key, { type: 'conversation.created', conv, members: users }, performance.now());
    }
    await this.settled();
    await this.crowd.connect();
  }

  /** Arrivals of the scenario, for so long. */
  async arrivals(rate: number, seconds: number): Promise<void> {
    const arrive = (dueMs: number): void => this.#deps.scenario.arrive(this, dueMs);
    await runOpenLoop({ rate, seconds, random: this.random, arrive });
  }

  /** From here on it counts. */
  measure(): void {
    Object.assign(this.counts, { messages: 0, reads: 0, recalls: 0 });
    this.readTimes = new Histogram();
    this.poster = this.#newPoster(this.#deps.target);
    for (const { kind } of this.cast.conversations) {
      if (!this.badgeTimes.has(kind)) this.badgeTimes.set(kind, new Histogram());
    }
    for (const { conv, kind } of this.cast.conversations) {
      this.latency.begin(conv, this.#heads.get(conv) ?? 0, this.badgeTimes.get(kind) as Histogram);
    }
  }

  /** Resolves when everything done so far has been answered. */
  async settled(): Promise<void> {
    await this.poster.settled();
    while (this.#reads.size > 0) await Promise.all(this.#reads);
  }

  say({ conv, key }: Conversation, { user: sender }: Person, mentions: readonly string[], dueMs: number): void {
    this.counts.messages++;
    const message = { type: 'message.created', conv, message_id: `m${this.#named++}`, sender, mentions };
    this.poster.post(key, message, dueMs, ({ seq = 0 }) => {
      this.#heads.set(conv, Math.max(seq, this.#heads.get(conv) ?? 0));
      this.ledgers.sent(conv, seq, sender, mentions);
      this.latency.posted(conv, seq, dueMs, sender);
    });
  }

  /** Takes back an older message, if there is one. */
  recall({ conv, key }: Conversation, dueMs: number): void {
    const message = this.ledgers.older(conv, RECALL_DEPTH);
    if (message === null || message.isRecalled) return;
    this.counts.recalls++;
    message.isRecalled = true;
    this.poster.post(key, { type: 'message.recalled', conv, seq: message.seq }, dueMs);
  }

  /** One device of the person reads what it shows of the conversation, if that is anything new. */
  read({ conv }: Conversation, person: Person, dueMs: number): void {
    const device = this.random.pick(this.crowd.devicesOf(person));
    const row = device.state.rows.get(conv);
    if (row === undefined || row.head_seq <= row.read_seq) return;
    this.counts.reads++;
    const read = this.#read(conv, person.user, row.head_seq, device.ack(conv, row.head_seq), dueMs);
    this.#reads.add(read);
    void read.finally(() => this.#reads.delete(read));
  }

  #newPoster(target: Target): Poster {
    return new Poster({ target, lanes: LANES, onFault: (text) => this.faults.push(text) });
  }

  async #read(conv: string, user: string, seq: number, acked: Promise<void>, dueMs: number): Promise<void> {
    await acked;
    this.readTimes.record(performance.now() - dueMs);
    this.ledgers.read(conv, user, seq);
  }
}
