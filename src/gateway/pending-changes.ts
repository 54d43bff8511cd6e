import type { Op, Row } from '../../protocol/index.ts';
import { FRAME_ROWS_BYTES_MAX, rowBytesMax } from '../core/row-bytes.ts';
import type { Change, StateHead } from '../ports.ts';

/** Rows that wait for one socket; above it (or above what a frame takes) only the fact that something waits is kept. */
const ROWS_MAX = 128;

/**
 * Changes of one user that wait for one socket, merged to the last row of each conversation (SY3). What cannot be kept whole (too many
 * rows, a gap between versions, another epoch) is kept as a mark: then the rows are read again from the state. So a socket that
 * nobody reads from costs the same whatever happens.
 */
export class PendingChanges {
  #rows: Map<string, Row> | null = null;
  #bytes = 0;
  #head: StateHead | null = null;
  #baseVersion = 0;
  #op: Op = 'merged';

  add(change: Change): void {
    const held = this.#head;
    if (held === null) {
      this.#head = change;
      this.#baseVersion = change.baseVersion;
      this.#op = change.op;
      this.#rows = new Map();
      this.#addRows(change.rows);
      return;
    }
    if (change.epoch !== held.epoch) {
      this.#rows = null;
      this.#head = change;
      return;
    }
    if (change.syncVersion <= held.syncVersion) return;
    this.#head = change;
    this.#op = this.#op === change.op ? change.op : 'merged';
    if (change.baseVersion !== held.syncVersion) this.#rows = null;
    else this.#addRows(change.rows);
  }

  /** Whether a socket that stands at (epoch, version) has what waits here already. */
  isKnownAt(epoch: string, version: number): boolean {
    return this.#head !== null && this.#head.epoch === epoch && this.#head.syncVersion <= version;
  }

  /** The version up to which a socket that stands at (epoch, version) could be brought by what waits here. */
  reach(epoch: string, version: number): number {
    return this.#isUsableAt(epoch, version) && this.#head !== null
      ? Math.max(version, this.#head.syncVersion)
      : version;
  }

  /** What a socket that stands at (epoch, version) is to be sent; null: it has to be read from the state. */
  since(epoch: string, version: number): Change | null {
    const head = this.#head;
    const rows = this.#rows;
    if (head === null || rows === null || !this.#isUsableAt(epoch, version)) return null;
    const newer = [...rows.values()].filter((row) => row.version > version);
    return { ...head, user: '', baseVersion: version, op: this.#op, rows: newer };
  }

  #isUsableAt(epoch: string, version: number): boolean {
    return this.#rows !== null && this.#head?.epoch === epoch && this.#baseVersion <= version;
  }

  #addRows(rows: readonly Row[]): void {
    for (const row of rows) {
      if (this.#rows === null) return;
      const held = this.#rows.get(row.conv);
      if (held !== undefined) this.#bytes -= rowBytesMax(held);
      this.#bytes += rowBytesMax(row);
      this.#rows.set(row.conv, row);
      if (this.#rows.size > ROWS_MAX || this.#bytes > FRAME_ROWS_BYTES_MAX) this.#rows = null;
    }
  }
}
