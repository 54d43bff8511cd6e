import type { Duplex } from 'node:stream';
import { closeCodes, limits } from '../../protocol/index.ts';
import type {
  Auth,
  Bye,
  ClientFrame,
  CloseCode,
  Codec,
  Decoded,
  Hello,
  ServerFrame,
  Sync,
} from '../../protocol/index.ts';
import { Deadline } from '../deadline.ts';
import { codeOf, Unavailable, UserFault } from '../errors.ts';
import { logError } from '../log.ts';
import type { StateHead } from '../ports.ts';
import { type Answer, answerFields } from '../services/resync.ts';
import { carryOut, errorFrame } from './command-frames.ts';
import type { CommandFrame } from './command-frames.ts';
import type { GatewayDeps } from './deps.ts';
import { messageFrame } from './frame-bytes.ts';
import type { FrameRate } from './frame-rate.ts';
import { greetingFault } from './greeting-fault.ts';
import type { GatewaySocket, SocketOwner } from './gateway-socket.ts';
import type { Heartbeat, Visited } from './heartbeat.ts';
import { Intake } from './intake.ts';
import { Outbound } from './outbound.ts';
import type { OutboundHost, Question } from './outbound.ts';
import type { PushedChange } from './pushed-change.ts';
import type { Registry } from './registry.ts';
import { checkToken } from './token-check.ts';

export interface SessionDeps extends GatewayDeps {
  readonly registry: Registry;
  readonly heartbeat: Heartbeat;
  readonly frameRate: FrameRate;
  /** A name for a connection, unlike any other. */
  readonly nextConn: () => string;
  /** The close code is the one sent, else the one received; 1006 when the link broke. */
  ended(session: Session, closeCode: number): void;
}

/** A connection of Node, with its count of what came in. */
export type NetStream = Duplex & { readonly bytesRead: number };

/**
 *     greeting ─hello─▶ verifying ─token good─▶ live ─▶ over
 *
 * `gone`: the peer closed while its token was being verified; what it sent before that is still carried out (DT6).
 */
type Phase = 'greeting' | 'verifying' | 'live' | 'gone' | 'over';

/** Bytes before the hello is whole: a frame of the largest size, its header, and a few pings. */
const BYTES_BEFORE_HELLO_MAX = 2 * limits.frameBytesBeforeWelcomeMax;
/** A frame that waits for its answer weighs 1, and 1 more a KiB. */
const LOAD_BYTES = 1024;
/** Who owes more than this to the rate sends what no client has a reason to send. */
const RATE_DEBT_MAX_MS = 10_000;
const PONG_BACKLOG_BYTES_MAX = 4096;
/** After a fault of the server's own. */
const RETRY_MS = 1000;

/** One socket: it greets, takes frames in the order received, and ends with a `bye`. What goes out is the affair of `Outbound`. */
export class Session implements SocketOwner, OutboundHost, Visited {
  user = '';
  device = '';
  attempt: number | undefined = undefined;
  /** Its name on all nodes. */
  conn = '';
  /** Whether this node has heard of it as all nodes do, so that whatever is heard after it is newer. */
  isAnnounced = false;
  /** Of the peer, for the limits. */
  readonly address: string;
  readonly stream: NetStream;
  readonly codec: Codec;
  pageRowsMax: number = limits.pageRowsDefault;
  readonly #deps: SessionDeps;
  readonly #socket: GatewaySocket;
  readonly #intake: Intake;
  #phase: Phase = 'greeting';
  #outbound: Outbound | null = null;
  /** Frames behind the hello, until its token is verified; at most one chunk of the network, since reading stops. */
  #early: Decoded<ClientFrame>[] | null = null;
  #expiresAtMs = 0;
  #largeMark = 0;
  /** What had come in when the socket was opened; from the welcome on, when the last heartbeat went out. */
  #bytesHeard: number;
  /** When the hello must have come; from then on, when the next heartbeat goes out. */
  #dueMs: number;
  /** When the heartbeat went out since which nothing was heard; null: none. */
  #probedAtMs: number | null = null;
  #closedWith: CloseCode | null = null;
  #leaving: { readonly retryMs: number; readonly untilMs: number } | null = null;

  constructor(deps: SessionDeps, socket: GatewaySocket, stream: NetStream, codec: Codec, address: string) {
    const nowMs = deps.clock.steadyMs();
    this.#deps = deps;
    this.#socket = socket;
    this.stream = stream;
    this.codec = codec;
    this.address = address;
    this.#bytesHeard = stream.bytesRead;
    this.#dueMs = nowMs + deps.settings.helloTimeoutMs;
    this.#intake = new Intake(deps, socket);
    deps.heartbeat.add(this);
    socket.owner = this;
  }

  // ------------------------------------------------------------------------------------------------------ what comes in

  received(data: Buffer, isBinary: boolean): void {
    if (this.#isOver) return;
    const isVerified = this.#phase === 'live';
    if (data.length > (isVerified ? limits.frameBytesMax : limits.frameBytesBeforeWelcomeMax)) return this.close(4400);
    if (!this.#isWithinRate()) return;
    const decoded = this.codec.decodeClient(isBinary ? data : data.toString());
    if (isVerified) this.#handle(decoded, data.length);
    else if (this.#phase === 'verifying') {
      (this.#early ??= []).push(decoded);
      this.#intake.holdForGreeting();
    } else if (decoded.ok && decoded.frame.t === 'hello') void this.#greet(decoded.frame);
    else this.close(4400, undefined, greetingFault(decoded));
  }

  controlled(pingData: Buffer | null): void {
    if (this.#isOver || !this.#isWithinRate() || pingData === null) return;
    // RFC 6455 §5.5.3: where pings outrun the line, not every one has to be answered.
    if (this.stream.writableLength <= PONG_BACKLOG_BYTES_MAX) this.#socket.pong(pingData);
  }

  malformed(): void {
    this.close(4400);
  }

  ended(closeCode: number): void {
    this.#finish(this.#phase === 'verifying' ? 'gone' : 'over');
    this.#deps.ended(this, this.#closedWith ?? closeCode);
  }

  async #greet(hello: Hello): Promise<void> {
    const { registry, clock } = this.#deps;
    const askedAtMs = clock.steadyMs();
    this.#phase = 'verifying';
    const token = await checkToken(this.#deps.verifyToken, hello.token, { user: null, device: hello.device });
    if (this.#isOver) return;
    if (typeof token === 'number') return this.close(token);
    this.user = token.user;
    this.device = hello.device;
    this.attempt = hello.attempt;
    this.conn = this.#deps.nextConn();
    this.#expiresAtMs = token.expiresAtMs;
    if (this.#socket.isOpen) {
      // [SY5] In the registry first, so that no change falls between the read of the state and the pushes.
      this.#largeMark = registry.largeMark;
      if (!registry.enter(this)) return this.close(4404);
      this.#goLive(hello, askedAtMs);
    }
    for (const decoded of this.#early ?? []) this.#handle(decoded, 0);
    this.#early = null;
    this.#intake.greeted();
  }

  #goLive({ cursor, digest, page, max_rows }: Hello, askedAtMs: number): void {
    const { clock, settings, random, metrics } = this.#deps;
    this.#phase = 'live';
    metrics.sessionLive(1);
    // The first heartbeat comes early by chance, so that sockets that opened together do not beat together.
    this.#dueMs = clock.steadyMs() + settings.heartbeatMs * (0.5 + random.fraction() / 2);
    this.pageRowsMax = Math.min(max_rows ?? limits.pageRowsDefault, limits.pageRowsMax);
    this.#outbound = new Outbound(this.#deps, this);
    this.#outbound.ask({ kind: 'hello', cursor, digest, page, askedAtMs });
  }

  #handle(decoded: Decoded<ClientFrame>, bytes: number): void {
    if (this.#isOver) return;
    if (!decoded.ok) {
      if (decoded.fatal) return this.close(4400);
      return this.#refuse(new UserFault(decoded.code, decoded.message, decoded.field), decoded.id);
    }
    const { frame } = decoded;
    switch (frame.t) {
      case 'hello':
        return this.#refuse(new UserFault('already_greeted', 'a second hello on one socket'));
      case 'sync':
        return this.#sync(frame);
      case 'auth':
        return void this.#renew(frame);
      case 'ping':
        this.#intake.addLoad(1);
        return this.#outbound?.beat(1);
      default:
        return void this.#command(frame, 1 + Math.floor(bytes / LOAD_BYTES));
    }
  }

  #sync({ cursor, digest }: Sync): void {
    const question: Question = { kind: 'sync', cursor, digest, askedAtMs: this.#deps.clock.steadyMs() };
    if (this.#outbound?.ask(question) === false) {
      this.#refuse(new Unavailable('too many syncs are waiting', RETRY_MS, 'rate_limited'));
    }
  }

  /** Handed over in the order received (AK4); the answers come in any order. */
  async #command(frame: CommandFrame, weight: number): Promise<void> {
    this.#intake.addLoad(weight);
    const { services, clock } = this.#deps;
    const deadline = new Deadline(clock);
    try {
      const carriedOut = carryOut(services.commands, this.user, frame, deadline);
      const answer = await deadline.meet(carriedOut, (error) => this.faulted(error));
      this.#outbound?.ack({ id: frame.id, items: answer.items, at: answer, weight, deadline });
    } catch (error) {
      this.#logFault(error, 'a command failed');
      this.#outbound?.note(errorFrame(error, frame.id), weight);
    }
  }

  async #renew(frame: Auth): Promise<void> {
    this.#intake.addLoad(1);
    const token = await checkToken(this.#deps.verifyToken, frame.token, this);
    if (this.#isOver) return;
    if (typeof token === 'number') return this.close(token);
    this.#expiresAtMs = token.expiresAtMs;
    this.#outbound?.note({ t: 'auth_ok', expires_at: token.expiresAtMs }, 1);
  }

  /** DT5: an `error` frame, and the socket stays. */
  #refuse(fault: UserFault | Unavailable, id?: number): void {
    this.#intake.addLoad(1);
    this.#outbound?.note(errorFrame(fault, id), 1);
  }

  /** False: the socket was closed for it. */
  #isWithinRate(): boolean {
    const waitMs = this.#intake.count();
    if (waitMs === 0) return true;
    this.#deps.metrics.rateLimited('frames');
    if (waitMs <= RATE_DEBT_MAX_MS) return true;
    this.close(4103, waitMs);
    return false;
  }

  // ------------------------------------------------------------------------------------------------------ what goes out

  push(pushed: PushedChange): void {
    if (this.#outbound?.offer(pushed) === true) this.#deps.metrics.coalesced(1);
  }

  /** The state of the user stands here. */
  compare(head: StateHead): void {
    this.#outbound?.compare(head);
  }

  mayWrite(): boolean {
    if (this.#phase !== 'live' || !this.#socket.isOpen) return false;
    if (!this.#isExpired) return true;
    this.close(4200);
    return false;
  }

  announce({ kind, askedAtMs }: Question, { mode, reason, head, view }: Answer): ServerFrame | null {
    const { registry, metrics, clock, settings } = this.#deps;
    registry.concerns(this.user, view.large, this.#largeMark);
    this.#largeMark = registry.largeMark;
    if (kind === 'repair' && mode !== 'snapshot') return null;
    metrics.synced(mode, reason);
    if (reason === 'ahead') metrics.versionRegressed();
    const answer = answerFields({ mode, reason, head }, this.#expiresAtMs);
    if (kind !== 'hello') return { t: 'synced', ...answer };
    metrics.helloAnswered((clock.steadyMs() - askedAtMs) / 1000);
    return { t: 'welcome', conn: this.conn, user: this.user, ...answer, heartbeat_ms: settings.heartbeatMs };
  }

  failed({ kind }: Question, error: unknown): number {
    this.#logFault(error, 'the state of a user cannot be read');
    const retryMs = error instanceof Unavailable ? error.retryMs : RETRY_MS;
    // Spread, since whatever is away is away for everybody.
    if (kind === 'hello') this.close(4102, Math.ceil(retryMs * (1 + this.#deps.random.fraction())));
    else if (kind === 'sync') {
      this.#intake.addLoad(1);
      this.#outbound?.note(errorFrame(error), 1);
    }
    return retryMs;
  }

  faulted(error: unknown): void {
    this.#logFault(error, 'what nobody waited for any more failed');
  }

  broken(error: unknown): void {
    this.#logFault(error, 'a frame could not be made');
    this.close(4102, RETRY_MS);
  }

  unload(weight: number): void {
    this.#intake.removeLoad(weight);
    // Not at once: what has just been taken off is about to be written.
    if (this.#leaving !== null && this.#intake.load === 0) this.#deps.clock.soon(() => this.#leaveIfDone(false));
  }

  // ------------------------------------------------------------------------------------------------------------ the end

  visit(nowMs: number): void {
    const { settings, metrics } = this.#deps;
    if (this.#phase !== 'live') return this.#visitBeforeWelcome(nowMs);
    if (this.#isExpired) return this.close(4200);
    this.#leaveIfDone(nowMs >= (this.#leaving?.untilMs ?? Infinity));
    if (this.#outbound?.isStuckSince(nowMs - settings.unsentMaxMs) === true) {
      metrics.slowConsumerClosed();
      return this.close(4100);
    }
    if (this.#probedAtMs !== null) {
      // Any byte is a sign of life. A socket that we do not read cannot give any.
      if (this.stream.bytesRead !== this.#bytesHeard || this.#intake.isHeld) this.#probedAtMs = null;
      else if (nowMs - this.#probedAtMs >= settings.silenceMaxMs) {
        metrics.halfOpenClosed();
        return this.close(4101);
      }
    }
    if (nowMs < this.#dueMs) return;
    this.#dueMs = nowMs + settings.heartbeatMs;
    if (this.#probedAtMs === null) {
      this.#probedAtMs = nowMs;
      this.#bytesHeard = this.stream.bytesRead;
    }
    this.#outbound?.beat(0);
  }

  #visitBeforeWelcome(nowMs: number): void {
    if (this.#phase !== 'greeting') return;
    if (nowMs >= this.#dueMs) this.close(4101);
    else if (this.stream.bytesRead - this.#bytesHeard > BYTES_BEFORE_HELLO_MAX) this.close(4400);
  }

  /** Says `bye`, and why if there is more to say than the code does, and closes; nothing is read or written after it. */
  close(code: CloseCode, retryMs?: number, why?: string): void {
    if (this.#isOver) return;
    this.#closedWith = code;
    this.#finish('over');
    if (!this.#socket.isOpen) return;
    const { reason } = closeCodes[code];
    const bye: Bye = { t: 'bye', code, reason: why ?? reason };
    if (retryMs !== undefined) bye.retry_ms = retryMs;
    this.stream.write(messageFrame(this.codec.encode(bye)));
    this.#socket.close(code, reason);
  }

  /** Without a word; the peer finds a broken link. */
  cut(): void {
    this.#finish('over');
    this.#socket.terminate();
  }

  /** Ends with 4000 as soon as the commands received so far are answered, at the latest at `untilMs`. */
  leave(retryMs: number, untilMs: number): void {
    if (this.#phase !== 'live') return this.close(4000, retryMs);
    this.#leaving = { retryMs, untilMs };
    this.#intake.stop();
    this.#leaveIfDone(false);
  }

  #leaveIfDone(isTime: boolean): void {
    if (this.#leaving !== null && (isTime || this.#intake.load === 0)) this.close(4000, this.#leaving.retryMs);
  }

  /** An outage is told to every peer that it touches and shows in the metrics; a line for each of them would bury the cause. */
  #logFault(error: unknown, message: string): void {
    if (codeOf(error) === 'internal') logError(this.#deps.log, error, message);
  }

  /** For whoever looks on. */
  get course() {
    return { dueMs: this.#dueMs, probedAtMs: this.#probedAtMs, outbound: this.#outbound };
  }

  /** By the clock that the token was made by. */
  get #isExpired(): boolean {
    return this.#deps.clock.nowMs() >= this.#expiresAtMs;
  }

  get #isOver(): boolean {
    return this.#phase === 'over';
  }

  #finish(phase: 'gone' | 'over'): void {
    if (this.#phase === 'live') {
      this.#deps.metrics.sessionLive(-1);
      this.#deps.registry.leave(this);
    }
    this.#phase = phase;
    this.#deps.heartbeat.remove(this);
    this.#outbound?.drop();
    this.#outbound = null;
    this.#intake.end();
  }
}
