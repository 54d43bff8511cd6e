// The tab that leads, as the server of the others: it answers their hellos from what it shows itself, passes on what changes
// there, and carries their commands to the real server under ids of its own. What it shows was verified, and so are they.
import type { ClientFrame, Cursor } from '../../protocol/client-frames.ts';
import type { ServerFrame, SyncReason } from '../../protocol/server-frames.ts';
import type { Kept } from '../store.ts';
import { userOf } from '../token-user.ts';
import { nextStanding, NOTHING, standingOf, sumsIn } from './standing.ts';
import type { Standing } from './standing.ts';
import type { ToLeader, ToSocket } from './tab-message.ts';
import { MOVED } from './tab-socket.ts';

export interface TabServerHandler {
  post(message: ToSocket): void;
  /** On the real socket. */
  send(frame: ClientFrame): void;
  /** This tab stands where the server stands, after it did not. */
  live(): void;
}

/** A hello or a sync that waits. `fresh`: for the heads of a snapshot that the real server sends. */
interface Question {
  t: 'welcome' | 'synced';
  cursor: Cursor | null;
  digest: string | undefined;
  fresh: boolean;
}

interface Guest {
  /** From its token. */
  user: string | null;
  asks: Question | null;
  greeted: boolean;
}

/** Tabs that crash say no goodbye; the oldest make room, and come again if they are there. */
const GUESTS_MAX = 200;
/** Far above the ids that a client counts up to. */
const FIRST_ID = 2 ** 32;
const PAGE_ROWS = 200;
/** The socket's token is the affair of the tab that leads. */
const NEVER = Number.MAX_SAFE_INTEGER;

export class TabServer {
  readonly #handler: TabServerHandler;
  readonly #guests = new Map<string, Guest>();
  /** Who asked what is under way, by the id on the real socket. */
  readonly #owners = new Map<number, { socket: string; id: number }>();
  #nextId = FIRST_ID;
  #kept: Kept | null = null;
  /** As the guests have it. */
  #standing: Standing = NOTHING;
  /** Where the real server is known to stand; null: no socket has been welcomed. */
  #server: { epoch: string; syncVersion: number } | null = null;
  #heartbeatMs = 0;
  #wasLive = false;

  constructor(handler: TabServerHandler) {
    this.#handler = handler;
  }

  told({ from, say }: ToLeader): void {
    if (say === 'open') this.#opened(from);
    else if (say === 'close') this.#guests.delete(from);
    else this.#said(from, say);
  }

  #opened(socket: string): void {
    const [oldest] = this.#guests.keys();
    if (oldest === undefined) this.#standing = NOTHING;
    else if (this.#guests.size >= GUESTS_MAX) this.#guests.delete(oldest);
    this.#guests.set(socket, { user: null, asks: null, greeted: false });
    this.#handler.post({ to: socket, say: 'opened' });
  }

  #said(socket: string, frame: ClientFrame): void {
    const guest = this.#guests.get(socket);
    if (guest === undefined) return;
    if (frame.t === 'hello') guest.user = userOf(frame.token);
    if (frame.t === 'hello' || frame.t === 'sync') {
      const fresh = frame.t === 'sync' && frame.cursor === null;
      const { cursor, digest } = frame;
      guest.asks = { t: frame.t === 'hello' ? 'welcome' : 'synced', cursor, digest, fresh };
      if (fresh) this.#handler.send(frame);
      this.#pump(false);
    } else if (frame.t === 'ping') this.#beat(socket);
    else if (frame.t === 'auth') this.#say(socket, { t: 'auth_ok', expires_at: NEVER });
    else if (guest.greeted) {
      this.#owners.set(this.#nextId, { socket, id: frame.id });
      this.#handler.send({ ...frame, id: this.#nextId++ });
    }
  }

  /** What this tab shows now. */
  keep(kept: Kept): void {
    this.#kept = kept;
  }

  /** Whether a frame answers another tab and nobody else. */
  passOn(frame: ServerFrame): boolean {
    if (frame.t !== 'acked' && frame.t !== 'error') return false;
    const id = frame.id ?? 0;
    const owner = this.#owners.get(id);
    if (owner === undefined) return false;
    this.#owners.delete(id);
    this.#say(owner.socket, { ...frame, id: owner.id });
    return true;
  }

  /** This tab has taken in a frame of the real server. */
  heard(frame: ServerFrame): void {
    if (frame.t === 'welcome') this.#heartbeatMs = frame.heartbeat_ms;
    if ('epoch' in frame) {
      const known = this.#server?.epoch === frame.epoch ? this.#server.syncVersion : 0;
      this.#server = { epoch: frame.epoch, syncVersion: Math.max(known, frame.sync_version) };
    }
    this.#pump(frame.t === 'snapshot' && frame.end);
    if (frame.t === 'hb') for (const [socket, { greeted }] of this.#guests) if (greeted) this.#beat(socket);
  }

  /** The real socket is gone; the others come again and wait with this tab. */
  end(code: number, reason: string): void {
    for (const [to, { user }] of this.#guests) {
      // What the server has against this user it may not have against another.
      const verdict = user === this.#kept?.user ? code : MOVED;
      this.#handler.post({ to, say: { t: 'end', code: verdict, reason } });
    }
    this.#guests.clear();
    this.#owners.clear();
    this.#server = null;
    this.#wasLive = false;
  }

  /** `heads`: a snapshot of the real server has just come to its end. */
  #pump(heads: boolean): void {
    const { epoch = null, syncVersion = 0, rows } = this.#kept ?? {};
    const server = this.#server;
    const isLive = epoch !== null && server?.epoch === epoch && syncVersion >= server.syncVersion;
    if (isLive && rows !== undefined && this.#guests.size > 0) {
      this.#advance(epoch, syncVersion, rows);
      this.#answerAll(heads);
    }
    if (isLive && !this.#wasLive) this.#handler.live();
    this.#wasLive = isLive;
  }

  /** Takes what this tab shows now, and passes on what is new in it. */
  #advance(epoch: string, syncVersion: number, rows: Standing['rows']): void {
    const before = this.#standing;
    if (before.epoch !== epoch) {
      this.#standing = standingOf(epoch, syncVersion, rows);
      this.#startOver('epoch');
      return;
    }
    if (before.rows === rows && before.syncVersion === syncVersion) return;
    const { standing, changed } = nextStanding(before, syncVersion, rows);
    this.#standing = standing;
    // Heads that came with a snapshot of the same version are for those who asked for them.
    if (syncVersion === before.syncVersion && standing.sums.digest === before.sums.digest) return;
    if (syncVersion <= before.syncVersion || changed.some(({ version }) => version <= before.syncVersion)) {
      this.#startOver('digest');
      return;
    }
    const base_version = before.syncVersion;
    for (const socket of this.#listening()) {
      this.#say(socket, { t: 'delta', ...sumsIn(standing), base_version, rows: changed, op: 'merged' });
    }
  }

  /** Those who stand where the others stand. */
  #listening(): string[] {
    return [...this.#guests].filter(([, { greeted, asks }]) => greeted && asks === null).map(([socket]) => socket);
  }

  #startOver(reason: SyncReason): void {
    for (const socket of this.#listening()) this.#snapshot(socket, 'synced', reason);
  }

  #answerAll(heads: boolean): void {
    for (const [socket, guest] of this.#guests) {
      const { asks } = guest;
      if (asks === null || (asks.fresh && !heads)) continue;
      if (guest.user !== this.#kept?.user) {
        this.#guests.delete(socket);
        this.#handler.post({ to: socket, say: 'alone' });
        continue;
      }
      guest.asks = null;
      guest.greeted = true;
      this.#answer(socket, asks);
    }
  }

  #answer(socket: string, { t, cursor, digest, fresh }: Question): void {
    const at = sumsIn(this.#standing);
    const isSame = cursor?.epoch === at.epoch && cursor.sync_version === at.sync_version;
    if (isSame && !fresh && (digest ?? at.digest) === at.digest) this.#begin(socket, t, { mode: 'noop' });
    else if (cursor === null) this.#snapshot(socket, t, t === 'welcome' ? 'first' : 'requested');
    else this.#snapshot(socket, t, isSame ? 'digest' : 'floor');
  }

  #snapshot(socket: string, t: Question['t'], reason: SyncReason): void {
    this.#begin(socket, t, { mode: 'snapshot', reason });
    const rows = [...this.#standing.rows.values()];
    const pages = Math.max(1, Math.ceil(rows.length / PAGE_ROWS));
    for (let page = 1; page <= pages; page++) {
      const part = rows.slice((page - 1) * PAGE_ROWS, page * PAGE_ROWS);
      const end = page === pages;
      const next = end ? {} : { next: String(page) };
      this.#say(socket, { t: 'snapshot', page, rows: part, end, ...next, ...sumsIn(this.#standing) });
    }
  }

  #begin(socket: string, t: Question['t'], how: { mode: 'noop' | 'snapshot'; reason?: SyncReason }): void {
    const fields = { ...how, ...sumsIn(this.#standing), expires_at: NEVER };
    const user = this.#kept?.user ?? '';
    if (t === 'synced') this.#say(socket, { t, ...fields });
    else this.#say(socket, { t, conn: socket, user, heartbeat_ms: this.#heartbeatMs, ...fields });
  }

  #beat(socket: string): void {
    const { epoch, sync_version, total, digest } = sumsIn(this.#standing);
    this.#say(socket, { t: 'hb', epoch, sync_version, total, digest });
  }

  #say(to: string, frame: ServerFrame): void {
    this.#handler.post({ to, say: frame });
  }
}
