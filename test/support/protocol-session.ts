import type { ClientClock } from '../../client/index.ts';
import { userOf } from '../../client/token-user.ts';
import type { ClientFrame, Cursor } from '../../protocol/client-frames.ts';
import type { AckedItem, Op, Row, ServerFrame, SyncMode, SyncReason } from '../../protocol/server-frames.ts';
import type { CountedTruth, Sums } from './counted-truth.ts';

/** The server's end of one connection. */
export interface ServerLink {
  send(frame: ServerFrame): void;
  /** A clean close with a code, after what was sent. */
  close(code: number): void;
}

export interface SessionHost {
  readonly clock: ClientClock;
  readonly truth: CountedTruth;
  readonly settings: { readonly heartbeatMs: number; readonly pageRows: number };
  /** While set, every command and sync is answered by an error with this code. */
  readonly refuseWith: { code: string; retry_ms?: number } | null;
  received(frame: ClientFrame): void;
  /** [SY7] A digest differed at the same version. */
  diverged(user: string): void;
  left(session: ProtocolSession): void;
}

/** A snapshot that is under way; as JSON it is the page token. */
interface Pages {
  sums: Sums;
  sent: string[];
  page: number;
}

/** More than the latency of the line: what was sent before a cut has arrived. */
const PAGE_GAP_MS = 10;

/** One connection: hello, then answers, pages, deltas and acked, each naming the version the one before ended at. */
export class ProtocolSession {
  user: string | null = null;
  readonly #host: SessionHost;
  readonly #link: ServerLink;
  readonly #conn: string;
  /** The version that the last frame ended at. */
  #at = 0;
  #pages: Pages | null = null;
  #cancels = new Set<() => void>();
  #over = false;
  #expiresAt = 0;
  #cancelExpiry: () => void = () => {};

  constructor(host: SessionHost, link: ServerLink, conn: string) {
    this.#host = host;
    this.#link = link;
    this.#conn = conn;
  }

  lost(): void {
    this.#over = true;
    for (const cancel of this.#cancels) cancel();
    this.#host.left(this);
  }

  bye(code: number, retryMs?: number): void {
    if (this.#over) return;
    this.#link.send({ t: 'bye', code, reason: 'test', ...(retryMs === undefined ? {} : { retry_ms: retryMs }) });
    this.#link.close(code);
    this.lost();
  }

  receive(frame: ClientFrame): void {
    if (this.#over) return;
    this.#host.received(frame);
    if (frame.t === 'hello') return this.#greet(frame.token, frame.cursor, frame.digest, frame.page);
    const { user } = this;
    if (user === null) return this.bye(4400);
    if (frame.t === 'ping') return this.#beat();
    if (frame.t === 'auth') return this.#authenticate(frame.token);
    const { refuseWith } = this.#host;
    if (refuseWith !== null) {
      const id = frame.t === 'sync' ? {} : { id: frame.id };
      return this.#link.send({ t: 'error', ...id, ...refuseWith, message: 'test' });
    }
    if (frame.t === 'sync') return this.#answer('synced', frame.cursor, frame.digest);
    const items = this.#carryOut(user, frame);
    if (items === null) return this.#link.send({ t: 'error', id: frame.id, code: 'stale_cursor', message: 'test' });
    const { total, digest } = this.#host.truth.sums(user);
    return this.#link.send({ t: 'acked', id: frame.id, items, sync_version: this.#at, total, digest });
  }

  push(rows: readonly Row[], op: Op): void {
    const { user } = this;
    if (user === null || this.#over) return;
    const sums = this.#host.truth.sums(user);
    this.#link.send({ t: 'delta', base_version: this.#at, rows: [...rows], op, ...sums });
    this.#at = sums.sync_version;
  }

  startOver(reason: SyncReason): void {
    this.#say('synced', 'snapshot', reason);
    this.#beginPages([], 0);
  }

  #carryOut(user: string, frame: Exclude<ClientFrame, { t: 'hello' | 'ping' | 'auth' | 'sync' }>): AckedItem[] | null {
    switch (frame.t) {
      case 'ack':
        return this.#host.truth.ack(user, frame.items);
      case 'mark':
        return this.#host.truth.mark(user, frame.conv, frame.from_seq, frame.read_epoch);
      case 'prefs':
        return this.#host.truth.prefs(user, frame.conv, frame.muted, frame.hidden);
      case 'clear':
        return this.#host.truth.clear(user, frame.conv, frame.up_to_seq);
      case 'read_all':
        return this.#host.truth.readAll(user, frame.epoch, frame.sync_version);
    }
  }

  #greet(token: string, cursor: Cursor | null, digest?: string, page?: string): void {
    const user = userOf(token) ?? '';
    const [, , expiresAt = '0'] = token.split('.');
    if (user === 'nobody') return this.bye(4401);
    if (Number(expiresAt) <= this.#host.clock.nowMs()) return this.bye(4200);
    this.user = user;
    this.#expireAt(Number(expiresAt));
    const beat = () => {
      this.#after(this.#host.settings.heartbeatMs, beat);
      this.#beat();
    };
    this.#after(this.#host.settings.heartbeatMs, beat);
    return this.#answer('welcome', cursor, digest, page);
  }

  #expireAt(expiresAtMs: number): void {
    this.#expiresAt = expiresAtMs;
    this.#cancelExpiry();
    this.#cancelExpiry = this.#after(expiresAtMs - this.#host.clock.nowMs(), () => this.bye(4200));
  }

  #authenticate(token: string): void {
    const user = userOf(token);
    const [, , expiresAt = '0'] = token.split('.');
    if (user !== this.user) return this.bye(4401);
    this.#expireAt(Number(expiresAt));
    return this.#link.send({ t: 'auth_ok', expires_at: this.#expiresAt });
  }

  #beat(): void {
    const { epoch, sync_version, total, digest } = this.#host.truth.sums(this.user ?? '');
    this.#link.send({ t: 'hb', epoch, sync_version, total, digest });
  }

  /** [SY2] */
  #answer(t: 'welcome' | 'synced', cursor: Cursor | null, digest?: string, page?: string): void {
    const { epoch, version, rows } = this.#host.truth.state(this.user ?? '');
    this.#pages = null;
    const resumed = page === undefined ? null : (JSON.parse(page) as Pages);
    if (resumed !== null && resumed.sums.epoch === epoch) return this.#resume(t, resumed);
    if (cursor === null) return this.#snapshot(t, t === 'welcome' ? 'first' : 'requested');
    if (cursor.epoch !== epoch) return this.#snapshot(t, 'epoch');
    if (cursor.sync_version > version) return this.#snapshot(t, 'ahead');
    if (cursor.sync_version === version) {
      if (digest === undefined || digest === this.#host.truth.sums(this.user ?? '').digest) return this.#say(t, 'noop');
      this.#host.diverged(this.user ?? '');
      return this.#snapshot(t, 'digest');
    }
    this.#say(t, 'delta');
    return this.#catchUp([...rows.values()], cursor.sync_version);
  }

  /** Everything above `from`, cut between versions, each frame with the totals of the end (SY7). */
  #catchUp(rows: readonly Row[], from: number): void {
    const sums = this.#host.truth.sums(this.user ?? '');
    const newer = rows.filter(({ version }) => version > from).toSorted((a, b) => a.version - b.version);
    const versions = [...new Set(newer.map(({ version }) => version))];
    let base = from;
    while (versions.length > 0) {
      const some = versions.splice(0, this.#host.settings.pageRows);
      const end = versions.length === 0 ? sums.sync_version : (some.at(-1) ?? base);
      const part = newer.filter(({ version }) => version > base && version <= end);
      this.#link.send({ t: 'delta', ...sums, base_version: base, sync_version: end, rows: part, op: 'merged' });
      base = end;
    }
  }

  #snapshot(t: 'welcome' | 'synced', reason: SyncReason): void {
    this.#say(t, 'snapshot', reason);
    this.#beginPages([], 0);
  }

  /** [SY6] At the version of the token: what has changed since comes first, the rest of the pages after it. */
  #resume(t: 'welcome' | 'synced', pages: Pages): void {
    this.#say(t, 'snapshot', 'requested', pages.sums);
    const { rows, version } = this.#host.truth.state(this.user ?? '');
    if (version > pages.sums.sync_version) this.#catchUp([...rows.values()], pages.sums.sync_version);
    this.#pages = pages;
    this.#after(PAGE_GAP_MS, () => this.#nextPage());
  }

  #say(t: 'welcome' | 'synced', mode: SyncMode, reason?: SyncReason, at?: Sums): void {
    const sums = this.#host.truth.sums(this.user ?? '');
    this.#at = sums.sync_version;
    const said = { mode, ...(reason === undefined ? {} : { reason }), ...(at ?? sums), expires_at: this.#expiresAt };
    if (t === 'synced') return this.#link.send({ t, ...said });
    const { heartbeatMs } = this.#host.settings;
    return this.#link.send({ t, conn: this.#conn, user: this.user ?? '', heartbeat_ms: heartbeatMs, ...said });
  }

  #beginPages(sent: string[], page: number): void {
    const sums = this.#host.truth.sums(this.user ?? '');
    this.#pages = { sums, sent, page };
    this.#nextPage();
  }

  #nextPage(): void {
    const pages = this.#pages;
    if (pages === null) return;
    const left = [...this.#host.truth.state(this.user ?? '').rows.values()].filter(
      (row) =>
        row.version <= pages.sums.sync_version &&
        row.gone !== true &&
        row.hidden !== true &&
        !pages.sent.includes(row.conv),
    );
    const rows = left.slice(0, this.#host.settings.pageRows);
    const end = rows.length === left.length;
    pages.sent.push(...rows.map(({ conv }) => conv));
    pages.page++;
    const next = end ? {} : { next: JSON.stringify(pages) };
    this.#link.send({ t: 'snapshot', page: pages.page, rows, end, ...next, ...pages.sums });
    if (end) this.#pages = null;
    else this.#after(PAGE_GAP_MS, () => this.#pages === pages && this.#nextPage());
  }

  #after(delayMs: number, run: () => void): () => void {
    if (this.#over) return () => {};
    const cancel = this.#host.clock.after(delayMs, () => {
      this.#cancels.delete(cancel);
      run();
    });
    this.#cancels.add(cancel);
    return cancel;
  }
}
