import type { Socket } from 'node:net';
import mysql from 'mysql2';
import type { ExecuteValues, PoolConnection, QueryError, ResultSetHeader, RowDataPacket } from 'mysql2';
import type { Value, Values } from '../records.ts';
import { isTooManyStatements, isWornOut } from './failure.ts';
import type { Turn } from './patience.ts';

// Defined at run time, so that it cannot be imported by name, and loaded anew at each look, so that it is taken once.
const { LONGLONG } = mysql.TypedParameter;

/** Told after each statement: its text, how many rows it answered or changed, and its values. */
export type OnStatement = (sql: string, rows: number, values: Values) => void;

export interface Changed {
  /** Rows inserted, deleted, or set to something else than they were. */
  readonly rows: number;
  /** The first id given out by an AUTO_INCREMENT column. */
  readonly firstId: number;
}

type Result = RowDataPacket[] | ResultSetHeader;
type Done = (error: QueryError | null, result: Result) => void;

/** One connection while somebody has it. Statements still without an answer when the turn is over reject, and the connection is cut. */
export class Session {
  readonly #connection: PoolConnection;
  readonly #turn: Turn;
  readonly #onStatement: OnStatement | undefined;
  #pending = 0;
  #isSpent = false;

  constructor(connection: PoolConnection, turn: Turn, onStatement: OnStatement | undefined) {
    this.#connection = connection;
    this.#turn = turn;
    this.#onStatement = onStatement;
  }

  async all(sql: string, values: Values): Promise<Values[]> {
    const rows = (await this.#execute(sql, values)) as unknown as Value[][];
    this.#onStatement?.(sql, rows.length, values);
    for (const row of rows) readBytes(row);
    return rows;
  }

  async run(sql: string, values: Values): Promise<Changed> {
    const { affectedRows, insertId } = (await this.#execute(sql, values)) as ResultSetHeader;
    this.#onStatement?.(sql, affectedRows, values);
    return { rows: affectedRows, firstId: insertId };
  }

  /** As `run`, for an INSERT: what is only stored needs no exact type on its way, which makes it cheaper to send. */
  async insert(sql: string, values: Values): Promise<Changed> {
    const { affectedRows, insertId } = (await this.#execute(sql, values, values as Value[])) as ResultSetHeader;
    this.#onStatement?.(sql, affectedRows, values);
    return { rows: affectedRows, firstId: insertId };
  }

  /** A statement without values or answer, such as COMMIT. */
  async say(sql: string): Promise<void> {
    await this.#command((done) => this.#connection.query({ sql }, done));
    this.#onStatement?.(sql, 0, []);
  }

  /** Everything that `read` reads belongs to one moment. For a session that commits by itself. */
  async snapshot<T>(read: () => Promise<T>): Promise<T> {
    await this.say('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY');
    try {
      return await read();
    } finally {
      await this.rollback();
    }
  }

  /** Never rejects: a connection that does not even roll back is cut, which has the same effect. */
  async rollback(): Promise<void> {
    if (this.#isSpent || this.#pending > 0) return;
    try {
      await this.say('ROLLBACK');
    } catch {
      this.#isSpent = true;
    }
  }

  /** Gives the connection back, or cuts it where nobody knows what it would say next. */
  release(): void {
    if (!this.#isSpent && this.#pending === 0) {
      this.#connection.release();
      return;
    }
    this.#connection.destroy();
    // The driver says goodbye and waits for the server to hang up, which one that hangs never does.
    (this.#connection as unknown as { stream: Socket }).stream.destroy();
  }

  /** Not to be used again, whatever it was in the middle of. */
  cut(): void {
    this.#isSpent = true;
    this.release();
  }

  async #execute(sql: string, values: Values, parameters: ExecuteValues[] = values.map(parameter)): Promise<Result> {
    try {
      return await this.#command((done) =>
        this.#connection.execute({ sql, values: parameters, rowsAsArray: true }, done),
      );
    } catch (error) {
      // The server's limit over all its clients, not ours: unprepared it costs more, and works.
      if (!isTooManyStatements(error)) throw error;
      return this.#command((done) =>
        this.#connection.query({ sql, values: values as Value[], rowsAsArray: true }, done),
      );
    }
  }

  async #command(start: (done: Done) => void): Promise<Result> {
    const { signal } = this.#turn;
    signal.throwIfAborted();
    this.#pending++;
    const sinceMs = performance.now();
    return new Promise<Result>((resolve, reject) => {
      const expired = (): void => reject(signal.reason as Error);
      signal.addEventListener('abort', expired, { once: true });
      start((error, result) => {
        signal.removeEventListener('abort', expired);
        this.#pending--;
        this.#turn.answered(performance.now() - sinceMs);
        if (error === null) return resolve(result);
        if (isWornOut(error)) this.#isSpent = true;
        return reject(error);
      });
    });
  }
}

/** Left to itself the driver sends every number as a DOUBLE, and MariaDB walks over the whole table to find those in a list of them. */
export function parameter(value: Value): ExecuteValues {
  return typeof value === 'number' ? LONGLONG(value) : value;
}

/** VARBINARY comes as bytes of the packet. */
function readBytes(row: (Value | Buffer)[]): void {
  for (let i = 0; i < row.length; i++) {
    const value = row[i];
    if (value instanceof Buffer) row[i] = value.toString();
  }
}
