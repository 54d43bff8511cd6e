// A server of the protocol for tests of clients: one process, in memory, in virtual time.
import type { ClientClock } from '../../client/index.ts';
import type { ClientFrame } from '../../protocol/client-frames.ts';
import { CountedTruth } from './counted-truth.ts';
import { ProtocolSession } from './protocol-session.ts';
import type { ServerLink, SessionHost } from './protocol-session.ts';

export interface ServerSettings {
  heartbeatMs: number;
  pageRows: number;
  /** CN8, lowered so that tests reach it. */
  unreadCap: number;
}

const DEFAULTS: ServerSettings = { heartbeatMs: 25_000, pageRows: 4, unreadCap: 5 };
/** SY7: the second divergence within this time is answered by a rebuild. */
const COOL_DOWN_MS = 60_000;

export class ProtocolServer implements SessionHost {
  readonly clock: ClientClock;
  readonly settings: ServerSettings;
  readonly truth: CountedTruth;
  readonly frames: ClientFrame[] = [];
  divergences = 0;
  refuseWith: SessionHost['refuseWith'] = null;
  readonly #sessions = new Set<ProtocolSession>();
  readonly #divergedAt = new Map<string, number>();
  #connections = 0;

  constructor(clock: ClientClock, settings: Partial<ServerSettings> = {}) {
    this.clock = clock;
    this.settings = { ...DEFAULTS, ...settings };
    this.truth = new CountedTruth(this.settings.unreadCap, {
      changed: (user, rows, op) => this.#of(user).forEach((session) => session.push(rows, op)),
      rebuilt: (user) => this.#of(user).forEach((session) => session.startOver('epoch')),
    });
  }

  /** A JWT but for its last part: until when it is good; for a server that has no secrets. */
  static token(user: string, expiresAtMs: number): string {
    return `.${Buffer.from(JSON.stringify({ sub: user })).toString('base64url')}.${expiresAtMs}`;
  }

  accept(link: ServerLink): ProtocolSession {
    const session = new ProtocolSession(this, link, `conn-${++this.#connections}`);
    this.#sessions.add(session);
    return session;
  }

  /** Ends every connection with the code. */
  closeAll(code: number, retryMs?: number): void {
    for (const session of this.#sessions) session.bye(code, retryMs);
  }

  received(frame: ClientFrame): void {
    this.frames.push(frame);
  }

  diverged(user: string): void {
    this.divergences++;
    const now = this.clock.nowMs();
    const again = now - (this.#divergedAt.get(user) ?? -Infinity) < COOL_DOWN_MS;
    this.#divergedAt.set(user, now);
    if (again) this.truth.loseState(user);
  }

  left(session: ProtocolSession): void {
    this.#sessions.delete(session);
  }

  #of(user: string): ProtocolSession[] {
    return [...this.#sessions].filter((session) => session.user === user);
  }
}
