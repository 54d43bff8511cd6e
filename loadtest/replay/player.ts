/**
 * Plays a trace. What has to happen in order does: the events of one conversation, the acts of one device, an ack after the message
 * that it names, acks of somebody before that person's next joining or leaving, and a preference after all that came before it in
 * its conversation and before all that comes after (a clear means another thing then). Everything else overlaps, as in life.
 */
import type { ServerFrame } from '../../protocol/index.ts';
import { Device } from '../device.ts';
import type { Target } from '../target.ts';
import { ConversationLane } from './conversation-lane.ts';
import type { Latency } from './latency.ts';
import type { TraceEvent, TracePrefs, TracePresence, TraceRead, TraceStep } from './trace.ts';

export interface PlayerOptions {
  readonly target: Target;
  /** N times real time; null: as fast as the server takes it. */
  readonly speed: number | null;
  readonly latency: Latency;
  readonly onProgress: (at: number) => void;
}

/** Events that may wait for their turn before reading on stops. */
const BACKLOG_MAX = 2000;
const STEPS_BEFORE_YIELD = 20;
const MEMBERSHIP = new Set(['member.joined', 'member.left', 'conversation.dissolved', 'conversation.created']);

export class Player {
  readonly #options: PlayerOptions;
  readonly #lanes = new Map<string, ConversationLane>();
  readonly #devices = new Map<string, Device>();
  readonly #seqs = new Map<string, Map<string, number>>();
  readonly #deviceWork = new Map<string, Promise<void>>();
  /** Open commands a (conversation, user), which the next membership event of both waits for. */
  readonly #open = new Map<string, Set<Promise<void>>>();
  readonly #openOfConversation = new Map<string, Set<Promise<void>>>();
  /** The last preference of a conversation that is not yet answered. */
  readonly #openPrefs = new Map<string, Promise<void>>();
  readonly #startedAtMs = performance.now();
  #sinceYield = 0;
  readonly faults: string[] = [];
  readonly counts = { messages: 0, acks: 0 };

  constructor(options: PlayerOptions) {
    this.#options = options;
  }

  async play(step: TraceStep): Promise<void> {
    await this.#pace(step.at);
    if (step.kind === 'event') await this.#room();
    switch (step.kind) {
      case 'event':
        this.#event(step);
        break;
      case 'connect':
      case 'disconnect':
        this.#presence(step);
        break;
      case 'read':
        this.#read(step);
        break;
      case 'prefs':
        this.#prefs(step);
        break;
    }
    this.#options.onProgress(step.at);
  }

  /** Resolves when everything played so far has been answered. */
  async settled(): Promise<void> {
    for (const lane of this.#lanes.values()) await lane.settled();
    await Promise.all(this.#deviceWork.values());
    for (const open of this.#openOfConversation.values()) await Promise.all(open);
    for (const device of this.#devices.values()) if (device.isConnected) await device.acksSettled();
  }

  connectedDevices(): Device[] {
    return [...this.#devices.values()].filter((device) => device.isConnected);
  }

  get devices(): Iterable<Device> {
    return this.#devices.values();
  }

  seqOf(conv: string, messageId: string): number | undefined {
    return this.#seqs.get(conv)?.get(messageId);
  }

  get posted(): number {
    let posted = 0;
    for (const lane of this.#lanes.values()) posted += lane.posted;
    return posted;
  }

  async #room(): Promise<void> {
    let backlog = 0;
    for (const lane of this.#lanes.values()) backlog += lane.backlog;
    if (backlog > BACKLOG_MAX) await this.settled();
    // Lets answers and frames in, which reading a file would otherwise starve.
    else if (++this.#sinceYield >= STEPS_BEFORE_YIELD) {
      this.#sinceYield = 0;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async #pace(at: number): Promise<void> {
    const { speed } = this.#options;
    if (speed === null) return;
    const waitMs = at / speed - (performance.now() - this.#startedAtMs);
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
  }

  #event({ event }: TraceEvent): void {
    const lane = this.#lane(event.conv);
    if (event.type === 'message.created') this.counts.messages++;
    lane.add(event, MEMBERSHIP.has(event.type) ? this.#openCommands(event) : (this.#openPrefs.get(event.conv) ?? null));
  }

  /** Acks that were sent before a membership event must not arrive after it: a rejoin would make them mean something else. */
  #openCommands({ type, conv, users = [], members = [] }: TraceEvent['event']): Promise<unknown> | null {
    const open =
      type === 'conversation.dissolved'
        ? [...(this.#openOfConversation.get(conv) ?? [])]
        : [...users, ...members].flatMap((user) => [...(this.#open.get(keyOf(conv, user)) ?? [])]);
    return open.length > 0 ? Promise.all(open) : null;
  }

  #presence({ kind, user, device: name }: TracePresence): void {
    const device = this.#device(user, name);
    void this.#afterwards(user, name, async () => {
      if (kind === 'connect') device.connect();
      else await device.disconnect();
    });
  }

  #read({ user, device: name, conv, upTo }: TraceRead): void {
    this.counts.acks++;
    const device = this.#device(user, name);
    const known = Promise.all([this.#lane(conv).caughtUp(), this.#openPrefs.get(conv)]);
    // The device goes on to its next act once the ack is in its queue; the conversation's next membership event waits for the answer.
    let answered: Promise<void> | undefined;
    const queued = this.#afterwards(user, name, async () => {
      await known;
      const seq = this.seqOf(conv, upTo);
      if (seq === undefined) throw new Error(`a read names the message ${upTo} of ${conv}, which was not posted`);
      answered = device.ack(conv, seq);
    });
    this.#track(
      conv,
      user,
      queued.then(() => answered),
    );
  }

  #prefs({ user, conv, action, upTo }: TracePrefs): void {
    const { target } = this.#options;
    const route = `/v1/users/${encodeURIComponent(user)}/conversations/${encodeURIComponent(conv)}`;
    const open = [...(this.#open.get(keyOf(conv, user)) ?? [])];
    const known = Promise.all([this.#lane(conv).caughtUp(), this.#openPrefs.get(conv), ...open]);
    const done = this.#afterwards(user, 'server', async () => {
      await known;
      if (action !== 'clear') {
        await target.request('PUT', `${route}/prefs`, { muted: action === 'mute' });
        return;
      }
      const seq = upTo === null ? undefined : this.seqOf(conv, upTo);
      if (upTo !== null && seq === undefined)
        throw new Error(`a clear names the message ${upTo} of ${conv}, which was not posted`);
      await target.request('DELETE', seq === undefined ? route : `${route}?up_to_seq=${seq}`);
    });
    this.#track(conv, user, done);
    this.#openPrefs.set(conv, done);
    void done.finally(() => {
      if (this.#openPrefs.get(conv) === done) this.#openPrefs.delete(conv);
    });
  }

  /** Acts of one device one after another. */
  #afterwards(user: string, name: string, act: () => Promise<void>): Promise<void> {
    const key = keyOf(user, name);
    const before = this.#deviceWork.get(key) ?? Promise.resolve();
    const work = before.then(act).catch((error: unknown) => {
      this.faults.push(String(error));
    });
    this.#deviceWork.set(key, work);
    return work;
  }

  #track(conv: string, user: string, work: Promise<void>): void {
    for (const [map, key] of [
      [this.#open, keyOf(conv, user)],
      [this.#openOfConversation, conv],
    ] as const) {
      const open = map.get(key) ?? new Set();
      map.set(key, open.add(work));
      void work.finally(() => open.delete(work));
    }
  }

  #device(user: string, name: string): Device {
    const key = keyOf(user, name);
    const held = this.#devices.get(key);
    if (held) return held;
    const { target, latency } = this.#options;
    // Half of them on each codec.
    const place = this.#devices.size;
    const onFrame = (frame: ServerFrame): void => {
      if (frame.t === 'delta') for (const row of frame.rows) latency.shown(key, row);
    };
    const device = new Device({ target, user, device: name, binary: place % 2 === 1, place, onFrame });
    this.#devices.set(key, device);
    return device;
  }

  #lane(conv: string): ConversationLane {
    const held = this.#lanes.get(conv);
    if (held) return held;
    const seqs = new Map<string, number>();
    this.#seqs.set(conv, seqs);
    const lane = new ConversationLane({
      target: this.#options.target,
      onMessage: (at, messageId, seq, sentAtMs) => {
        seqs.set(messageId, seq);
        this.#options.latency.posted(at, seq, sentAtMs);
      },
      onFault: (text) => this.faults.push(text),
    });
    this.#lanes.set(conv, lane);
    return lane;
  }
}

function keyOf(first: string, second: string): string {
  return JSON.stringify([first, second]);
}
