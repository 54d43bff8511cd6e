import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { Bug, Unavailable } from '../../errors.ts';
import type { Value, Values } from '../records.ts';
import { TruthFileError } from './file-error.ts';

/** Told after each statement: its text, and how many rows it answered or changed. */
export type OnStatement = (sql: string, rows: number) => void;

/**
 * A value that an index column is compared with for equality in a statement that also orders or joins. With a bare `?` there SQLite
 * looks at the value while it plans, and so compiles the statement anew at every binding: 80 µs instead of 1 for a row (measured).
 */
export const TEXT = 'CAST(? AS TEXT)';

export interface ConnectionOptions {
  readonly readOnly: boolean;
  readonly onStatement: OnStatement | undefined;
}

/** Pages kept in memory by one connection; negative = KiB, as SQLite wants it. */
const CACHE_KIB = -32 * 1024;
/** The log file is cut back to this after a checkpoint. */
const LOG_BYTES_MAX = 64 * 1024 * 1024;
/** As many pages make a checkpoint (64 MiB). It holds up the event loop, so it should be rare: at SQLite's 1,000, every tenth batch. */
const CHECKPOINT_PAGES = 16_384;
/** Only a checkpoint by the other connection can be in the way, and only for a moment. */
const BUSY_MS = 5_000;
const RETRY_MS = 1_000;

/** One SQLite connection with its prepared statements. Everything is synchronous: nothing interleaves inside one call. */
export class Connection {
  readonly #file: string;
  readonly #db: DatabaseSync;
  readonly #onStatement: OnStatement | undefined;
  readonly #statements = new Map<string, StatementSync>();

  constructor(file: string, { readOnly, onStatement }: ConnectionOptions) {
    this.#file = file;
    this.#onStatement = onStatement;
    this.#db = this.#guard(() => new DatabaseSync(file, { readOnly, timeout: BUSY_MS }));
    try {
      this.exec(`PRAGMA cache_size = ${CACHE_KIB}; PRAGMA temp_store = MEMORY`);
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  /** A log that others can read beside. What is committed is on the disk before COMMIT returns. */
  keepLog(): void {
    const limits = `PRAGMA journal_size_limit = ${LOG_BYTES_MAX}; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`;
    this.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${limits}`);
  }

  /** From here on COMMIT only hands the log to the system: who commits sees to it that it gets to the disk (see LogSync). */
  leaveLogToCaller(): void {
    this.exec('PRAGMA synchronous = NORMAL');
  }

  get inTransaction(): boolean {
    return this.#db.isTransaction;
  }

  /** Answers how many rows were changed. */
  run(sql: string, ...values: Value[]): number {
    const changes = this.#guard(() => Number(this.#prepared(sql).run(...values).changes));
    this.#onStatement?.(sql, changes);
    return changes;
  }

  /** As `run`, for an INSERT: answers the id of the new row. */
  insert(sql: string, ...values: Value[]): number {
    const result = this.#guard(() => this.#prepared(sql).run(...values));
    this.#onStatement?.(sql, Number(result.changes));
    return Number(result.lastInsertRowid);
  }

  get(sql: string, ...values: Value[]): Values | undefined {
    const row = this.#guard(() => this.#prepared(sql).get(...values)) as Values | undefined;
    this.#onStatement?.(sql, row === undefined ? 0 : 1);
    return row;
  }

  all(sql: string, ...values: Value[]): Values[] {
    const rows = this.#guard(() => this.#prepared(sql).all(...values)) as unknown as Values[];
    this.#onStatement?.(sql, rows.length);
    return rows;
  }

  /** One or several statements without values or answer. */
  exec(sql: string): void {
    this.#guard(() => this.#db.exec(sql));
    this.#onStatement?.(sql, 0);
  }

  /** Everything that `read` reads belongs to one moment. */
  snapshot<T>(read: () => T): T {
    this.exec('BEGIN');
    try {
      return read();
    } finally {
      if (this.inTransaction) this.exec('COMMIT');
    }
  }

  close(): void {
    if (this.#db.isOpen) this.#db.close();
  }

  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      // Arrays are read at half the cost of objects; the readers in records.ts name the places.
      statement.setReturnArrays(true);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #guard<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw translated(this.#file, error);
    }
  }
}

/** Result codes of SQLite (https://sqlite.org/rescode.html), by who has to do something about them. */
const AWAY = new Map([
  [5, 'is busy'],
  [6, 'is busy'],
  [10, 'cannot be read or written'],
  [13, 'cannot grow: the disk is full'],
]);
const DAMAGED = new Set([11, 26]);
const UNUSABLE = new Set([8, 14, 23]);

function translated(file: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return error;
  const code = error.errcode & 0xff;
  const away = AWAY.get(code);
  if (away !== undefined) {
    // Callers are told what it is; where the file lies is for the log.
    const cause = new Error(`${file}: ${error.message}`, { cause: error });
    return new Unavailable(`truth ${away}`, RETRY_MS, 'unavailable', { cause });
  }
  if (DAMAGED.has(code)) {
    return new TruthFileError(
      'damaged',
      `${file} is damaged or no database (${error.message}); restore it from a backup`,
      error,
    );
  }
  if (UNUSABLE.has(code))
    return new TruthFileError('unusable', `${file} cannot be opened for writing: ${error.message}`, error);
  return new Bug(`truth refused a statement: ${error.message}`, { cause: error });
}
