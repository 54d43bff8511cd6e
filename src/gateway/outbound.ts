import type { Writable } from 'node:stream';
import type { Codec, ServerFrame } from '../../protocol/index.ts';
import { nextDelta, VERSION_ROWS_MAX } from '../core/catch-up.ts';
import type { CatchUpCourse } from '../core/catch-up.ts';
import { nextPage } from '../core/snapshot-pages.ts';
import type { SnapshotCourse } from '../core/snapshot-pages.ts';
import { Deadline } from '../deadline.ts';
import type { Clock, StateHead } from '../ports.ts';
import { resync } from '../services/resync.ts';
import type { Answer, Question as ResyncQuestion } from '../services/resync.ts';
import type { Services } from '../services/services.ts';
import { turn } from '../services/turn.ts';
import { messageFrame, PING_FRAME } from './frame-bytes.ts';
import { PendingChanges } from './pending-changes.ts';
import { deltaOf } from './pushed-change.ts';
import type { PushedChange } from './pushed-change.ts';
import { type AckToSend, type Position, type Put, WaitingAnswers } from './waiting-answers.ts';

/** The socket that it writes to, and whoever owns it. */
export interface Question extends ResyncQuestion {
  readonly askedAtMs: number;
}

export interface OutboundHost {
  readonly user: string;
  readonly stream: Pick<Writable, 'write' | 'writableLength'>;
  readonly codec: Codec;
  /** Rows of a snapshot page. */
  readonly pageRowsMax: number;
  /** False: the socket is closing, nothing more may be written. */
  mayWrite(): boolean;
  /** The frame of the answer to hello or sync; null for a repair that needs none. */
  announce(question: Question, answered: Answer): ServerFrame | null;
  /** Answers after how many ms a repair is tried again. */
  failed(question: Question, error: unknown): number;
  /** A question failed after it had been answered for. */
  faulted(error: unknown): void;
  /** A fault of our own: this socket cannot go on, and nobody else is to suffer for it. */
  broken(error: unknown): void;
  /** Something that was waiting, of the weight it was given with, is being written. */
  unload(weight: number): void;
}

export interface OutboundDeps {
  readonly clock: Clock;
  readonly services: { readonly sync: Pick<Services['sync'], 'view' | 'diverged'> };
}

/** Questions that may wait for their answer: each may cost a read of all rows. */
const QUESTIONS_MAX = 16;
/** Answers to commands of one write; more go with the next. */
const BATCH_BYTES_MAX = 65_536;
/** Is written when all before it is. */
const NOTHING = Buffer.alloc(0);
/** Command answers overtake the push of their effect by less than this, unless the push was lost. */
const LOST_PUSH_MS = 100;

/**
 * What goes out on one socket (ARCHITECTURE, flows): one write at a time, and beside it only what is needed to make the next one. While a
 * write is under way, changes merge to the last row of each conversation, so a slow device gets fewer, newer frames and never a queue.
 *
 *   write under way ─▶ changes merge, acks and answers wait ─▶ written ─▶ next batch:
 *   answer to hello/sync · catch-up frame, or the merged delta · acks whose version is reached · heartbeats · one snapshot page
 */
export class Outbound {
  readonly #deps: OutboundDeps;
  readonly #host: OutboundHost;
  readonly liveSinceMs: number;
  readonly #onWritten = (): void => this.#written();
  /** Null: not yet welcomed. */
  #at: Position | null = null;
  #isWriting = false;
  #writingSinceMs = 0;
  #pending: PendingChanges | null = null;
  #waiting: WaitingAnswers | null = null;
  #questions: Question[] | null = null;
  #isReading = false;
  #mustRead = false;
  #answered: { readonly question: Question; readonly answer: Answer } | null = null;
  #catchUp: CatchUpCourse | null = null;
  #pages: SnapshotCourse | null = null;
  #cancelTimer: (() => void) | null = null;
  #cancelLate: (() => void) | null = null;

  constructor(deps: OutboundDeps, host: OutboundHost) {
    this.#deps = deps;
    this.#host = host;
    this.liveSinceMs = deps.clock.steadyMs();
  }

  /** Hello, sync. Answered in order, each when what was begun before is finished. False: too many wait. */
  ask(question: Question): boolean {
    this.#questions ??= [];
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
      if (change.syncVersion <= (this.#catchUp?.head.syncVersion ?? at.syncVersion)) return false;
      if (this.#isIdle && change.baseVersion === at.syncVersion && change.rows.length <= VERSION_ROWS_MAX) {
        this.#pass(pushed);
        return false;
      }
    }
    this.#pending ??= new PendingChanges();
    this.#pending.add(change);
    this.#flush();
    return true;
  }

  /** The answer to a command; it waits until this socket was sent the version that contains the effect (SPEC §7). */
  ack(ack: AckToSend): void {
    this.#waiting ??= new WaitingAnswers();
    this.#waiting.addAck(ack);
    this.#flush();
  }

  /** Any other frame, which belongs to no version. */
  note(frame: ServerFrame, weight: number): void {
    this.#waiting ??= new WaitingAnswers();
    this.#waiting.addNote(frame, weight);
    this.#flush();
  }

  /** A heartbeat with where this socket stands, as the answer to a ping; with weight 0: unasked. */
  beat(weight: number): void {
    this.#waiting ??= new WaitingAnswers();
    this.#waiting.addBeat(weight);
    this.#flush();
  }

  /** The state stands here. A socket that is behind, with nothing on its way to it, missed a push (ARCHITECTURE, flows). */
  compare({ epoch, syncVersion }: StateHead): void {
    const at = this.#at;
    if (at === null || this.#catchUp !== null || this.#answered !== null || this.#isReading) return;
    if (at.epoch === epoch && this.#reach(at) >= syncVersion) return;
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
    this.#cancelLate?.();
    this.#cancelLate = null;
    this.#pending = null;
    this.#waiting = null;
    this.#questions = null;
    this.#catchUp = null;
    this.#pages = null;
  }

  /** Null: not yet welcomed. */
  get position(): Position | null {
    return this.#at;
  }

  get #isIdle(): boolean {
    if (this.#isWriting || this.#isReading || this.#mustRead || this.#answered !== null) return false;
    return this.#catchUp === null && this.#pages === null && this.#pending === null;
  }

  /** The version that what is on its way here leads to. */
  #reach({ epoch, syncVersion }: Position): number {
    return this.#pending?.reach(epoch, syncVersion) ?? syncVersion;
  }

  #moveTo({ epoch, syncVersion, total, digest }: StateHead): void {
    this.#at = { epoch, syncVersion, total, digest };
  }

  /** A change that follows on where this idle socket stands. */
  #pass(pushed: PushedChange): void {
    if (!this.#host.mayWrite()) return;
    try {
      this.#writeAlone(pushed.frameFor(this.#host.codec));
      this.#moveTo(pushed.change);
      // Where nothing calls back, an answer that overtook this push would wait until it counted as lost.
      if (this.#waiting !== null) this.#flush();
    } catch (error) {
      this.#host.broken(error);
    }
  }

  #flush(): void {
    if (this.#isWriting) return;
    if (!this.#host.mayWrite()) return;
    try {
      this.#writeNext();
    } catch (error) {
      this.#host.broken(error);
    }
  }

  #writeNext(): void {
    const batch: Buffer[] = [];
    const put: Put = (frame) => {
      const bytes = messageFrame(this.#host.codec.encode(frame));
      batch.push(bytes);
      return bytes.length;
    };
    this.#takeAnswer(put);
    if (this.#at !== null) {
      this.#takeChanges(put);
      this.#takeWaiting(put, batch);
      if (this.#catchUp === null) this.#takePage(put);
    }
    this.#readNext();
    const [first] = batch;
    if (first !== undefined) this.#write(batch.length === 1 ? first : Buffer.concat(batch));
  }

  #write(bytes: Buffer): void {
    this.#isWriting = true;
    this.#writingSinceMs = this.#deps.clock.steadyMs();
    this.#host.stream.write(bytes, this.#onWritten);
  }

  /** With nothing to follow it. A callback costs a tenth of the push, and is of use only where the system does not take all at once. */
  #writeAlone(bytes: Buffer): void {
    const { stream } = this.#host;
    stream.write(bytes);
    if (stream.writableLength > 0) this.#write(NOTHING);
  }

  #written(): void {
    this.#isWriting = false;
    // Most writes are a push to an idle socket: nothing has come meanwhile.
    if (this.#isIdle && this.#waiting === null && this.#questions === null) return;
    this.#flush();
  }

  #takeAnswer(put: Put): void {
    if (this.#answered === null) return;
    const { question, answer: answered } = this.#answered;
    this.#answered = null;
    const frame = this.#host.announce(question, answered);
    if (frame !== null) put(frame);
    this.#catchUp = answered.catchUp;
    this.#pages = answered.pages;
    this.#moveTo(answered.head);
  }

  #takeChanges(put: Put): void {
    if (this.#catchUp !== null) {
      const { frame, rest } = nextDelta(this.#catchUp);
      put(frame);
      if (rest === null) this.#moveTo(this.#catchUp.head);
      this.#catchUp = rest;
      return;
    }
    const at = this.#at;
    const pending = this.#pending;
    if (this.#isReading || this.#mustRead || at === null || pending === null) return;
    this.#pending = null;
    if (pending.isKnownAt(at.epoch, at.syncVersion)) return;
    const change = pending.since(at.epoch, at.syncVersion);
    if (change === null || change.rows.length === 0) this.#mustRead = true;
    else {
      put(deltaOf(change));
      this.#moveTo(change);
    }
  }

  #takeWaiting(put: Put, batch: Buffer[]): void {
    const waiting = this.#waiting;
    const at = this.#at;
    if (waiting === null || at === null) return;
    let weight = 0;
    // The totals of a version in the middle of a catch-up are not known, so nothing that carries them goes out before its end.
    if (this.#catchUp === null) {
      weight += waiting.takeAcks(at, put, BATCH_BYTES_MAX);
      if (waiting.mustProbe) batch.push(PING_FRAME);
      weight += waiting.takeBeats(at, put);
      this.#awaitPush(waiting, at);
    }
    weight += this.#refuseLate(waiting, put);
    weight += waiting.takeNotes(put);
    if (waiting.isEmpty) this.#waiting = null;
    if (weight > 0) this.#host.unload(weight);
  }

  /** The first ack waits for a version that is not on its way here: soon it will have been lost, and the state is read. */
  #awaitPush({ firstAck }: WaitingAnswers, at: Position): void {
    if (firstAck === null || this.#isReading || this.#mustRead) return;
    if (firstAck.epoch !== at.epoch) this.#mustRead = true;
    else if (firstAck.syncVersion > this.#reach(at)) {
      this.#cancelTimer ??= this.#deps.clock.after(LOST_PUSH_MS, () => {
        this.#cancelTimer = null;
        this.#mustRead ||= (this.#waiting?.firstAck ?? null) !== null && !this.#isReading;
        this.#flush();
      });
    }
  }

  /** An ack may wait for a version that a read brings which is under way; but no longer than its device waits. */
  #refuseLate(waiting: WaitingAnswers, put: Put): number {
    if (this.#cancelLate !== null || waiting.firstAck === null) return 0;
    const weight = waiting.refuseLateAcks(put);
    if (waiting.firstAck !== null) {
      this.#cancelLate = this.#deps.clock.after(waiting.acksLateInMs, () => {
        this.#cancelLate = null;
        this.#flush();
      });
    }
    return weight;
  }

  #takePage(put: Put): void {
    if (this.#pages === null) return;
    const { frame, rest } = nextPage(this.#pages, this.#host.pageRowsMax);
    put(frame);
    this.#pages = rest;
  }

  #readNext(): void {
    if (this.#isReading || this.#answered !== null || this.#catchUp !== null || this.#pages !== null) return;
    const at = this.#at;
    let question = this.#questions?.shift();
    if (this.#questions?.length === 0) this.#questions = null;
    if (question === undefined) {
      if (!this.#mustRead || at === null) return;
      const cursor = { epoch: at.epoch, sync_version: at.syncVersion };
      question = { kind: 'repair', cursor, askedAtMs: this.#deps.clock.steadyMs() };
    }
    void this.#read(question);
  }

  /** What was pushed before is in the state that is read now; what is pushed meanwhile waits beside it. */
  async #read(question: Question): Promise<void> {
    const { services, clock } = this.#deps;
    const host = this.#host;
    this.#isReading = true;
    this.#mustRead = false;
    this.#pending = null;
    const covered = this.#waiting?.acksOfOtherEpochs(this.#at?.epoch) ?? [];
    try {
      // Whoever has very many rows and asks without end has the loop for one answer at a time.
      if (question.kind === 'sync') await turn(clock);
      const deadline = new Deadline(clock, question.askedAtMs);
      const once = () => resync(services.sync, host.user, question);
      const read = question.kind === 'repair' ? once() : deadline.again(once);
      const answered = await deadline.meet(read, (error) => host.faulted(error));
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
