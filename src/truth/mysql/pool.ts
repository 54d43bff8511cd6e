import { createPool, type Pool as DriverPool, type PoolConnection } from 'mysql2';
import type { Turn } from './patience.ts';
import { type OnStatement, Session } from './session.ts';

export interface PoolOptions {
  readonly url: string;
  readonly connectionsMax: number;
  /** Statements that a new connection is made ready by. */
  readonly greeting: readonly string[];
  readonly onStatement?: OnStatement | undefined;
}

const CONNECT_TIMEOUT_MS = 2_000;
/** Each is kept open by the server, which has 16,382 for all its clients unless told otherwise. */
const PREPARED_STATEMENTS_MAX = 200;

/** Connections of one kind, opened as they are needed. One that breaks is replaced when the next is asked for. */
export class Pool {
  readonly #pool: DriverPool;
  readonly #greeting: readonly string[];
  readonly #onStatement: OnStatement | undefined;
  readonly #ready = new WeakSet<PoolConnection>();

  constructor({ url, connectionsMax, greeting, onStatement }: PoolOptions) {
    this.#pool = createPool({
      uri: url,
      connectionLimit: connectionsMax,
      connectTimeout: CONNECT_TIMEOUT_MS,
      maxPreparedStatements: PREPARED_STATEMENTS_MAX,
      // A server must not be able to ask for files of ours; and rows count where something changed, not where it was found.
      flags: ['-LOCAL_FILES', '-FOUND_ROWS'],
    });
    this.#greeting = greeting;
    this.#onStatement = onStatement;
    // The pool replaces a connection at its first error; one that says more of them must not end the process.
    this.#pool.on('connection', (connection) => connection.on('error', () => {}));
  }

  /** Waits for a free connection as long as the turn lasts. */
  async acquire(turn: Turn): Promise<Session> {
    const connection = await this.#connection(turn.signal);
    const session = new Session(connection, turn, this.#onStatement);
    if (this.#ready.has(connection)) return session;
    try {
      for (const sql of this.#greeting) await session.say(sql);
    } catch (error) {
      session.cut();
      throw error;
    }
    this.#ready.add(connection);
    return session;
  }

  async end(): Promise<void> {
    return new Promise((resolve) => {
      // What does not close in good order is closed all the same.
      this.#pool.end(() => resolve());
    });
  }

  async #connection(signal: AbortSignal): Promise<PoolConnection> {
    signal.throwIfAborted();
    return new Promise<PoolConnection>((resolve, reject) => {
      const expired = (): void => reject(signal.reason as Error);
      signal.addEventListener('abort', expired, { once: true });
      this.#pool.getConnection((error, connection) => {
        signal.removeEventListener('abort', expired);
        if (error) return reject(error);
        // Too late for whoever asked, in time for the next.
        if (signal.aborted) return connection.release();
        return resolve(connection);
      });
    });
  }
}
