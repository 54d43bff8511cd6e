import { type AckedItem, jsonCodec, type ServerFrame } from '../../protocol/index.ts';
import type { DerivedRow } from '../../src/core/row.ts';
import { buildUserState, headOf, offer, rowsSince, type UserState } from '../../src/core/user-state.ts';
import { Deadline } from '../../src/deadline.ts';
import { Outbound, type OutboundHost, type Question } from '../../src/gateway/outbound.ts';
import { PushedChange } from '../../src/gateway/pushed-change.ts';
import type { Change, StateHead, StateView } from '../../src/ports.ts';
import type { Answer } from '../../src/services/resync.ts';
import { createHandClock } from './hand-clock.ts';
import { heldRow } from './held-rows.ts';
import { JudgedDevice } from './judged-device.ts';
import { SlowStream } from './slow-stream.ts';

/** Turns of the event loop in which everything that can happen has happened: a page or write takes two. */
const TURNS = 120;

/** The state of one user by its real rules, one socket, and a device that judges every frame. */
export class Line implements OutboundHost {
  readonly user = 'u1';
  readonly clock = createHandClock();
  readonly stream = new SlowStream();
  readonly codec = jsonCodec;
  readonly pageRowsMax: number;
  readonly device = new JudgedDevice();
  readonly outbound: Outbound;
  readonly log: ServerFrame[] = [];
  /** Reads of the state: from which version, and how many rows came. */
  readonly reads: (number | undefined)[] = [];
  state: UserState;
  mayWriteNow = true;
  unloaded = 0;
  /** Answers of the next reads: held back until released, or failing. */
  heldReads: (() => void)[] | null = null;
  failure: Error | null = null;
  failures = 0;
  readonly faults: unknown[] = [];
  divergedCalls = 0;
  #rev = 1;

  constructor(rows: readonly DerivedRow[] = [], pageRowsMax = 100) {
    this.state = buildUserState('u1', 'epoch1', rows);
    this.pageRowsMax = pageRowsMax;
    const sync = {
      view: (_: string, since?: number) => this.#view(since),
      diverged: async () => void this.divergedCalls++,
    };
    this.outbound = new Outbound({ clock: this.clock, services: { sync } }, this);
  }

  /** An answer to a command that has just been received. */
  ack(id: number, items: readonly AckedItem[], at: StateHead, weight: number): void {
    this.outbound.ack({ id, items, at, weight, deadline: new Deadline(this.clock) });
  }

  async #view(since?: number): Promise<StateView> {
    if (this.failure !== null) throw this.failure;
    const view = this.viewNow(since);
    this.reads.push(since);
    if (this.heldReads !== null) await new Promise<void>((resolve) => this.heldReads?.push(resolve));
    return view;
  }

  viewNow(since?: number): StateView {
    const { tombstoneFloor, user } = this.state;
    return {
      ...headOf(this.state),
      user,
      tombstoneFloor,
      rows: rowsSince(this.state, since),
      large: [],
      largeBehind: [],
    };
  }

  mayWrite(): boolean {
    return this.mayWriteNow;
  }
  announce({ kind }: Question, { mode, reason, head }: Answer): ServerFrame | null {
    if (kind === 'repair' && mode !== 'snapshot') return null;
    const { epoch, syncVersion, total, badge, mentions, digest } = head;
    const answer = { epoch, sync_version: syncVersion, mode, ...(reason === undefined ? {} : { reason }) };
    const rest = { total, badge, mentions, digest, expires_at: 0 };
    return kind === 'hello'
      ? { t: 'welcome', conn: 'c', user: 'u1', ...answer, ...rest, heartbeat_ms: 1 }
      : { t: 'synced', ...answer, ...rest };
  }
  failed(): number {
    this.failures++;
    return 1000;
  }
  faulted(error: unknown): void {
    this.faults.push(error);
  }
  broken(error: unknown): void {
    this.faults.push(error);
    this.mayWriteNow = false;
  }
  unload(weight: number): void {
    this.unloaded += weight;
  }

  /** A change of the user's state: conversations with these numbers of unread messages. */
  change(unread: Record<string, number>, op: Change['op'] = 'message'): Change {
    const rev = ++this.#rev;
    const rows = Object.entries(unread).map(([conv, count]) =>
      heldRow(conv, { unread: count, headSeq: count, convRev: rev, memberRev: rev, othersEver: count }),
    );
    return this.#offer(op, rows);
  }

  /** The user leaves a conversation that is listed. */
  leave(conv: string): Change {
    const rev = ++this.#rev;
    return this.#offer('leave', [heldRow(conv, { member: false, convRev: rev, memberRev: rev })]);
  }

  #offer(op: Change['op'], rows: DerivedRow[]): Change {
    const { change } = offer(this.state, { user: this.user, op, rows, parts: [] });
    if (change === null) throw new Error('nothing has changed');
    return change;
  }

  push(unread: Record<string, number>, op?: Change['op']): Change {
    const change = this.change(unread, op);
    this.outbound.offer(new PushedChange(change));
    return change;
  }

  hello(cursor: Question['cursor'] = null, rest: Partial<Question> = {}): boolean {
    return this.outbound.ask({ kind: 'hello', cursor, askedAtMs: 0, ...rest });
  }

  /** What has arrived, after everything that can happen has happened; judged. */
  async arrive(): Promise<ServerFrame[]> {
    for (let i = 0; i < TURNS; i++) await new Promise((resolve) => setImmediate(resolve));
    const frames = this.stream.frames();
    this.device.take(...frames);
    this.log.push(...frames);
    return frames;
  }

  /** Fails unless the device shows what the state holds. */
  mustBeSettled(): void {
    const { epoch, syncVersion, total, digest } = headOf(this.state);
    const { state, isSettled } = this.device;
    const held = [isSettled, state.epoch, state.syncVersion, state.total, this.device.sync().digest];
    const expected = [true, epoch, syncVersion, total, digest];
    if (held.join() !== expected.join())
      throw new Error(`the device stands at ${held.join()}, the state at ${expected.join()}`);
  }
}

export const kinds = (frames: readonly ServerFrame[]): string[] => frames.map(({ t }) => t);
export const deltas = (frames: readonly ServerFrame[]) => frames.filter((frame) => frame.t === 'delta');

/** A line whose device was welcomed. */
export async function greeted(rows: readonly DerivedRow[] = [heldRow('c1')], pageRowsMax?: number): Promise<Line> {
  const line = new Line(rows, pageRowsMax);
  line.hello();
  await line.arrive();
  line.mustBeSettled();
  return line;
}
