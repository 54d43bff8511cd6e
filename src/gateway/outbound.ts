import type { Writable } from 'node:stream';
import type { AckedItem, Codec, ServerFrame } from '../../protocol/index.ts';
import { nextDelta, VERSION_ROWS_MAX } from '../core/catch-up.ts';
import type { CatchUpCourse } from '../core/catch-up.ts';
import { nextPage } from '../core/snapshot-pages.ts';
import type { SnapshotCourse } from '../core/snapshot-pages.ts';
import type { Clock, StateHead } from '../ports.ts';
import type { Services } from '../services/services.ts';
import { answer } from './answer.ts';
import type { Answer, Question } from './answer.ts';
import { messageFrame, PING_FRAME } from './frame-bytes.ts';
import { PendingChanges } from './pending-changes.ts';
import { deltaOf } from './pushed-change.ts';
import type { PushedChange } from './pushed-change.ts';

export interface OutboundHost {
  readonly user: string;
  /** False: the socket is closing, nothing more may be written. */
  mayWrite(nowMs: number): boolean;
  /** The frame of the answer to hello or sync; null for a repair that needs none. */
  announce(question: Question, answered: Answer): ServerFrame | null;
  /** Answers after how many ms a repair is tried again. */
  failed(question: Question, error: unknown): number;
  /** Something that was waiting, of the weight it was given with, has been written or dropped. */
  unload(weight: number): void;
}

export interface OutboundDeps {
  readonly stream: Pick<Writable, 'write'>;
  readonly codec: Codec;
  readonly clock: Clock;
  readonly sync: Pick<Services['sync'], 'view' | 'diverged'>;
  readonly host: OutboundHost;
  /** Rows of a snapshot page. */
  readonly pageRowsMax: number;
}

interface WaitingAck {
  readonly id: number;
  readonly items: readonly AckedItem[];
  readonly weight: number;
  /** The version that contains the effect. */
  epoch: string;
  syncVersion: number;
}

interface Note {
  readonly frame: ServerFrame;
  readonly weight: number;
}

/** Where the frames given to the socket end; total and digest belong to that version. */
interface Position {
  readonly epoch: string;
  readonly version: number;
  readonly total: number;
  readonly digest: string;
}

/** Questions that may wait for their answer: each may cost a read of all rows. */
const QUESTIONS_MAX = 16;
/** Answers to commands of one write; more go with the next. */
const BATCH_BYTES_MAX = 65_536;
/** Command answers overtake the push of their effect by less than this, unless the push was lost. */
const LOST_PUSH_MS = 100;

/**
 * What goes out on one socket (DESIGN §3.6): one write at a time, and beside it only what is needed to make the next one. While a
 * write is under way, changes merge to the last row of each conversation, so a slow device gets fewer, newer frames and never a queue.
 *
 *   write under way ─▶ changes merge, acks and answers wait ─▶ written ─▶ next batch:
 *   answer to hello/sync · catch-up frame, or the merged delta · acks whose version is reached · heartbeats · one snapshot page
 */
export class Outbound {
  readonly #deps: OutboundDeps;
  readonly #onWritten = (): void => this.#written();
  #at: Position | null = null;
  #isWriting = false;
  #writingSinceMs = 0;
  #pending: PendingChanges | null = null;
  #acks: WaitingAck[] = [];
  #notes: Note[] = [];
  #beats = 0;
  #beatsWeight = 0;
  #mustProbe = false;
  #questions: Question[] = [];
  #isReading = false;
  #mustRead = false;
  #answered: { readonly question: Question; readonly answer: Answer } | null = null;
  #catchUp: CatchUpCourse | null = null;
  #pages: SnapshotCourse | null = null;
  #cancelTimer: (() => void) | null = null;

  constructor(deps: OutboundDeps) {
    this.#deps = deps;
  }

  /** Hello, sync. Answered in order, each when what was begun before is finished. False: too many wait. */
  ask(question: Question): boolean {
    if (this.#questions.length >= QUESTIONS_MAX) return false;
    this.#questions.push(question);
    this.#flush();
    return true;
  }

  /** A change of the user. Changes at or below what this socket was sent are dropped (SY5). True: it had to wait. */
  offer(pushed: PushedChange): boolean {
    const { change } = pushed;
    const at = this.#at;
    if (at !== null && change.epoch === at.epoch) {
      if (change.syncVersion <= (this.#catchUp?.head.syncVersion ?? at.version)) return false;
      if (this.#isIdle && change.baseVersion === at.version && change.rows.length <= VERSION_ROWS_MAX) {
        this.#moveTo(change);
        this.#write(pushed.frameFor(this.#deps.codec));
        return false;
      }
    }
    this.#pending ??= new PendingChanges();
    this.#pending.add(change);
    this.#flush();
    return true;
  }

  /** The answer to a command; it waits until this socket was sent the version that contains the effect (CONTRACT §6). */
  ack(id: number, items: readonly AckedItem[], { epoch, syncVersion }: StateHead, weight: number): void {
    this.#acks.push({ id, items, epoch, syncVersion, weight });
    this.#flush();
  }

  /** Any other frame, which belongs to no version. */
  note(frame: ServerFrame, weight: number): void {
    this.#notes.push({ frame, weight });
    this.#flush();
  }

  /** A heartbeat with where this socket stands, as the answer to a ping, or unasked: then every peer that is alive sends something in return. */
  beat(weight: number): void {
    this.#beats++;
    this.#beatsWeight += weight;
    this.#mustProbe ||= weight === 0;
    this.#flush();
  }

  /** The state stands here. A socket that is behind, with nothing on its way to it, missed a push (DESIGN §3.7). */
  compare({ epoch, syncVersion }: StateHead): void {
    const at = this.#at;
    if (at === null || this.#catchUp !== null || this.#answered !== null || this.#isReading) return;
    const reached = this.#pending?.reach(at.epoch, at.version) ?? at.version;
    if (at.epoch === epoch && reached >= syncVersion) return;
    this.#mustRead = true;
    this.#flush();
  }

  /** Whether a write has been under way since before `thenMs`: nobody reads at the other end. */
  isStuckSince(thenMs: number): boolean {
    return this.#isWriting && this.#writingSinceMs <= thenMs;
  }

  /** The socket is over: forgets what waits. */
  drop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#pending = null;
    this.#catchUp = null;
    this.#pages = null;
    this.#acks = [];
    this.#notes = [];
    this.#questions = [];
  }

  get #isIdle(): boolean {
    if (this.#isWriting || this.#isReading || this.#mustRead || this.#answered !== null) return false;
    return this.#catchUp === null && this.#pages === null && (this.#pending === null || this.#pending.isEmpty);
  }

  #flush(): void {
    if (this.#isWriting) return;
    if (!this.#deps.host.mayWrite(this.#deps.clock.nowMs())) return;
    const batch: Buffer[] = [];
    this.#takeAnswer(batch);
    if (this.#at !== null) {
      this.#takeChanges(batch);
      // The totals of a version in the middle of a catch-up are not known, so nothing that carries them goes out before its end.
      if (this.#catchUp === null) {
        this.#takeAcks(batch);
        this.#takeBeats(batch);
      }
      this.#takeNotes(batch);
      if (this.#catchUp === null) this.#takePage(batch);
    }
    this.#readNext();
    const [first] = batch;
    if (first !== undefined) this.#write(batch.length === 1 ? first : Buffer.concat(batch));
  }

  #write(bytes: Buffer): void {
    const { clock, host, stream } = this.#deps;
    const nowMs = clock.nowMs();
    if (!host.mayWrite(nowMs)) return;
    this.#isWriting = true;
    this.#writingSinceMs = nowMs;
    stream.write(bytes, this.#onWritten);
  }

  #written(): void {
    this.#isWriting = false;
    this.#flush();
  }

  #put(batch: Buffer[], frame: ServerFrame): number {
    const bytes = messageFrame(this.#deps.codec.encode(frame));
    batch.push(bytes);
    return bytes.length;
  }

  #moveTo({ epoch, syncVersion, total, digest }: StateHead): void {
    this.#at = { epoch, version: syncVersion, total, digest };
  }

  #takeAnswer(batch: Buffer[]): void {
    if (this.#answered === null) return;
    const { question, answer: answered } = this.#answered;
    this.#answered = null;
    const frame = this.#deps.host.announce(question, answered);
    if (frame !== null) this.#put(batch, frame);
    this.#catchUp = answered.catchUp;
    this.#pages = answered.pages;
    this.#moveTo(answered.head);
  }

  #takeChanges(batch: Buffer[]): void {
    if (this.#catchUp !== null) {
      const { frame, rest } = nextDelta(this.#catchUp);
      this.#put(batch, frame);
      if (rest === null) this.#moveTo(this.#catchUp.head);
      this.#catchUp = rest;
      return;
    }
    const at = this.#at;
    const pending = this.#pending;
    if (this.#isReading || this.#mustRead || at === null || pending === null || pending.isEmpty) return;
    const change = pending.isKnownAt(at.epoch, at.version) ? null : pending.since(at.epoch, at.version);
    if (change !== null && change.rows.length > 0) {
      this.#put(batch, deltaOf(change));
      this.#moveTo(change);
    } else if (!pending.isKnownAt(at.epoch, at.version)) this.#mustRead = true;
    pending.clear();
  }

  #takeAcks(batch: Buffer[]): void {
    const at = this.#at;
    let bytes = 0;
    let taken = 0;
    for (const { id, items, epoch, syncVersion, weight } of this.#acks) {
      if (at === null || bytes >= BATCH_BYTES_MAX || epoch !== at.epoch || syncVersion > at.version) break;
      const { version, total, digest } = at;
      bytes += this.#put(batch, { t: 'acked', id, items: [...items], sync_version: version, total, digest });
      taken++;
      this.#deps.host.unload(weight);
    }
    if (taken > 0) this.#acks.splice(0, taken);
    this.#awaitPush();
  }

  /** The first ack waits for a version that is not on its way here: soon it will have been lost, and the state is read. */
  #awaitPush(): void {
    const [first] = this.#acks;
    const at = this.#at;
    if (first === undefined || at === null || this.#isReading || this.#mustRead) return;
    if (first.epoch !== at.epoch) this.#mustRead = true;
    else if (first.syncVersion > (this.#pending?.reach(at.epoch, at.version) ?? at.version)) {
      this.#cancelTimer ??= this.#deps.clock.after(LOST_PUSH_MS, () => {
        this.#cancelTimer = null;
        this.#mustRead ||= this.#acks.length > 0 && !this.#isReading;
        this.#flush();
      });
    }
  }

  #takeBeats(batch: Buffer[]): void {
    const at = this.#at;
    if (at === null || this.#beats === 0) return;
    const { epoch, version, total, digest } = at;
    for (; this.#beats > 0; this.#beats--) this.#put(batch, { t: 'hb', epoch, sync_version: version, total, digest });
    if (this.#mustProbe) batch.push(PING_FRAME);
    this.#mustProbe = false;
    if (this.#beatsWeight > 0) this.#deps.host.unload(this.#beatsWeight);
    this.#beatsWeight = 0;
  }

  #takeNotes(batch: Buffer[]): void {
    for (const { frame, weight } of this.#notes) {
      this.#put(batch, frame);
      this.#deps.host.unload(weight);
    }
    if (this.#notes.length > 0) this.#notes = [];
  }

  #takePage(batch: Buffer[]): void {
    if (this.#pages === null) return;
    const { frame, rest } = nextPage(this.#pages, this.#deps.pageRowsMax);
    this.#put(batch, frame);
    this.#pages = rest;
  }

  #readNext(): void {
    if (this.#isReading || this.#answered !== null || this.#catchUp !== null || this.#pages !== null) return;
    const at = this.#at;
    let question = this.#questions.shift();
    if (question === undefined) {
      if (!this.#mustRead || at === null) return;
      const cursor = { epoch: at.epoch, sync_version: at.version };
      question = { kind: 'repair', cursor, askedAtMs: this.#deps.clock.nowMs() };
    }
    void this.#read(question);
  }

  /** What was pushed before is in the state that is read now; what is pushed meanwhile waits beside it. */
  async #read(question: Question): Promise<void> {
    const { sync, host, clock } = this.#deps;
    this.#isReading = true;
    this.#mustRead = false;
    this.#pending?.clear();
    const covered = this.#acks.filter(({ epoch }) => epoch !== this.#at?.epoch);
    try {
      const answered = await answer(sync, host.user, question);
      for (const ack of covered) {
        ack.epoch = answered.view.epoch;
        ack.syncVersion = answered.view.syncVersion;
      }
      this.#answered = { question, answer: answered };
    } catch (error) {
      const retryMs = host.failed(question, error);
      if (question.kind === 'repair') {
        await new Promise<void>((resolve) => clock.after(retryMs, resolve));
        this.#mustRead = true;
      }
    }
    this.#isReading = false;
    this.#flush();
  }
}
