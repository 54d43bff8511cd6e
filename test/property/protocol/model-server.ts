// One user's server as the contract describes it, kept as simple as can be: every version is remembered whole. It answers
// hello and sync, pushes merged deltas and pages, and resumes snapshots; the faults are put in between by the test.
import { digestOf, formatDigest, sumsOf } from '../../../protocol/index.ts';
import type { Cursor, Delta, Row, ServerFrame, SyncReason } from '../../../protocol/index.ts';

/** All rows, tombstones included, as they were at one version. */
export type Version = { epoch: string; syncVersion: number; rows: ReadonlyMap<string, Row> };
type Hello = { cursor: Cursor | null; digest?: string; page?: string };
type Pages = { version: Version; rows: Row[]; page: number; offset: number };

export class ModelServer {
  readonly history = new Map<string, Version>();
  readonly pageRows: number;
  #now: Version;
  #epochs = 0;
  #base = 0;
  #pages: Pages | null = null;
  #greeted = false;

  constructor(pageRows: number) {
    this.pageRows = pageRows;
    this.#now = this.#remember({ epoch: 'epoch-0', syncVersion: 3, rows: new Map() });
  }

  get now(): Version {
    return this.#now;
  }

  at(epoch: string, syncVersion: number): Version | undefined {
    return this.history.get(`${epoch} ${syncVersion}`);
  }

  /** One change set: each conversation named gets new numbers, or leaves. */
  change(changes: { conv: string; unread: number; gone?: boolean; muted?: boolean; hidden?: boolean }[]): void {
    const rows = new Map(this.#now.rows);
    const version = this.#now.syncVersion + 1;
    for (const { conv, unread, gone, muted, hidden } of changes) {
      const base = { conv, version, read_epoch: 0 };
      if (gone === true) rows.set(conv, { ...base, unread: 0, mentions: 0, read_seq: 0, head_seq: 0, gone });
      else {
        const row: Row = { ...base, unread, mentions: unread >> 1, read_seq: version, head_seq: version + unread };
        if (muted === true) row.muted = true;
        if (hidden === true) row.hidden = true;
        rows.set(conv, row);
      }
    }
    this.#now = this.#remember({ epoch: this.#now.epoch, syncVersion: version, rows });
  }

  /** [SY10] The state was lost and is built anew; an open socket hears of it first. */
  rebuild(): ServerFrame[] {
    this.#epochs += 1;
    const rows = new Map<string, Row>();
    for (const row of this.#now.rows.values()) if (row.gone !== true) rows.set(row.conv, { ...row, version: 1 });
    this.#now = this.#remember({ epoch: `epoch-${this.#epochs}`, syncVersion: 1, rows });
    return this.#greeted ? [this.#snapshot('synced', 'epoch')] : [];
  }

  hello(hello: Hello): ServerFrame[] {
    this.#greeted = true;
    const resumed = hello.page === undefined ? null : this.#resume(hello.page);
    return resumed ?? this.#answer('welcome', hello.cursor, hello.digest);
  }

  sync(cursor: Cursor | null, digest: string | undefined): ServerFrame[] {
    return this.#answer('synced', cursor, digest);
  }

  disconnect(): void {
    this.#greeted = false;
    this.#pages = null;
  }

  /** What changed since the last frame, merged into one delta. */
  push(): ServerFrame[] {
    if (!this.#greeted || this.#base === this.#now.syncVersion) return [];
    return [this.#delta(this.#base, this.#now)];
  }

  page(): ServerFrame[] {
    const pages = this.#pages;
    if (pages === null) return [];
    const rows = pages.rows.slice(pages.offset, pages.offset + this.pageRows);
    pages.offset += this.pageRows;
    pages.page += 1;
    const end = pages.offset >= pages.rows.length;
    if (end) this.#pages = null;
    const { epoch, syncVersion } = pages.version;
    const next = `${epoch} ${syncVersion} ${pages.page} ${pages.offset}`;
    return [
      {
        t: 'snapshot',
        epoch,
        sync_version: syncVersion,
        page: pages.page,
        // Rows that changed since are left out once a delta has brought them (SY6).
        rows: rows.filter((row) => this.at(epoch, this.#base)?.rows.get(row.conv)?.version === row.version),
        ...(end ? {} : { next }),
        end,
        ...sumFields(pages.version),
      },
    ];
  }

  beat(): ServerFrame[] {
    if (!this.#greeted) return [];
    const { badge: _badge, mentions: _mentions, ...sums } = sumFields(this.#now);
    const beat: ServerFrame = { t: 'hb', epoch: this.#now.epoch, sync_version: this.#now.syncVersion, ...sums };
    return [...this.page(), ...this.push(), beat]; // pages come nearer between two heartbeats
  }

  #answer(t: 'welcome' | 'synced', cursor: Cursor | null, digest: string | undefined): ServerFrame[] {
    const { epoch, syncVersion } = this.#now;
    if (cursor === null) return [this.#snapshot(t, 'first')];
    if (cursor.epoch !== epoch) return [this.#snapshot(t, 'epoch')];
    if (cursor.sync_version > syncVersion) return [this.#snapshot(t, 'ahead')];
    if (cursor.sync_version === syncVersion) {
      if (digest !== undefined && digest !== sumFields(this.#now).digest) return [this.#snapshot(t, 'digest')];
      this.#pages = null;
      this.#base = syncVersion;
      return [this.#head(t, this.#now, 'noop')];
    }
    this.#pages = null;
    this.#base = cursor.sync_version;
    return [this.#head(t, this.#now, 'delta'), ...this.#catchup(cursor.sync_version)];
  }

  /** Cut between row versions, ascending; every frame has the sums of the end (SY7). */
  #catchup(from: number): ServerFrame[] {
    const changed = [...this.#now.rows.values()].filter((row) => row.version > from);
    const versions = [...new Set(changed.map((row) => row.version))].sort((a, b) => a - b);
    const frames: ServerFrame[] = [];
    versions.forEach((version, i) => {
      const last = i === versions.length - 1;
      const rows = changed.filter((row) => row.version === version);
      const end = last ? this.#now.syncVersion : version;
      frames.push({ ...this.#delta(this.#base, this.#now), rows, sync_version: end });
      this.#base = end;
    });
    return frames;
  }

  #snapshot(t: 'welcome' | 'synced', reason: SyncReason): ServerFrame {
    const rows = [...this.#now.rows.values()].filter((row) => row.gone !== true);
    this.#pages = { version: this.#now, rows, page: 0, offset: 0 };
    this.#base = this.#now.syncVersion;
    return this.#head(t, this.#now, 'snapshot', reason);
  }

  #resume(token: string): ServerFrame[] | null {
    const [epoch = '', syncVersion, page, offset] = token.split(' ');
    const version = this.at(epoch, Number(syncVersion));
    if (version === undefined || epoch !== this.#now.epoch) return null;
    const rows = [...version.rows.values()].filter((row) => row.gone !== true);
    this.#pages = { version, rows, page: Number(page), offset: Number(offset) };
    this.#base = version.syncVersion;
    return [this.#head('welcome', version, 'snapshot', 'first'), ...this.push()];
  }

  #head(
    t: 'welcome' | 'synced',
    version: Version,
    mode: 'noop' | 'delta' | 'snapshot',
    reason?: SyncReason,
  ): ServerFrame {
    const { epoch, syncVersion } = version;
    const why = reason === undefined ? {} : { reason };
    const fields = { epoch, sync_version: syncVersion, mode, ...why, ...sumFields(version), expires_at: 1 };
    return t === 'synced' ? { t, ...fields } : { t, conn: 'conn', user: 'user', heartbeat_ms: 25_000, ...fields };
  }

  #delta(base: number, version: Version): Delta {
    const { epoch, syncVersion } = version;
    const rows = [...version.rows.values()].filter((row) => row.version > base);
    this.#base = syncVersion;
    return {
      t: 'delta',
      epoch,
      base_version: base,
      sync_version: syncVersion,
      rows,
      op: 'merged',
      ...sumFields(version),
    };
  }

  #remember(version: Version): Version {
    this.history.set(`${version.epoch} ${version.syncVersion}`, version);
    return version;
  }
}

export function sumFields(version: Version): { total: number; badge: number; mentions: number; digest: string } {
  const { total, badge, mentions } = sumsOf(version.rows.values());
  return { total, badge, mentions, digest: formatDigest(digestOf(version.rows.values())) };
}

export function heldRows(version: Version): Row[] {
  return [...version.rows.values()].filter((row) => row.gone !== true).sort((a, b) => (a.conv < b.conv ? -1 : 1));
}
