import type { Metrics } from '../../metrics.ts';
import type { Clock, Random } from '../../ports.ts';
import { DatabaseError } from './database-error.ts';
import { failureOf, translated } from './failure.ts';
import { migrate } from './migrate.ts';
import { Patience, type Turn } from './patience.ts';
import { Pool } from './pool.ts';
import type { OnStatement, Session } from './session.ts';
import { MysqlTruth } from './truth.ts';

export interface MysqlTruthOptions {
  /** mysql://user:password@host:port/database; the database exists. */
  readonly url: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: Metrics;
  /** Connections that write, and as many again and a half that read. */
  readonly writersMax?: number;
  /** Told once, if the server does not answer at the start: why, and how long it is waited for. */
  readonly onWait?: ((error: unknown, patienceMs: number) => void) | undefined;
  /** Told of each statement and how many rows it answered or changed; for benchmarks and tests. */
  readonly onStatement?: OnStatement;
}

const WRITERS_MAX = 8;
/** A server that starts together with its nodes may take so long to answer. */
const START_MS = 30_000;
const START_RETRY_MS = 500;
const ENDLESS: Turn = { signal: new AbortController().signal, answered: () => {} };
/** Less than the patience of a caller; who gives up loses its place in the queue. */
const LOCK_WAIT_S = 2;

const GREETING = [
  // What does not fit is refused, not cut.
  `SET SESSION sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00'`,
];
/** No gap locks: writers of neighbouring keys do not wait for each other. */
const WRITER_GREETING = [
  ...GREETING,
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  `SET SESSION innodb_lock_wait_timeout = ${LOCK_WAIT_S}, autocommit = 0`,
];
const READER_GREETING = [
  ...GREETING,
  'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ',
  'SET SESSION TRANSACTION READ ONLY',
];

/** What SKIP LOCKED, descending reads and row constructors in ranges are there from. */
const OLDEST = { MySQL: [8, 0, 29], MariaDB: [10, 11, 0] } as const;

/** Migrates the database first. Throws DatabaseError where an operator has to look, Unavailable when no server answers. */
export async function openMysqlTruth(options: MysqlTruthOptions): Promise<MysqlTruth> {
  const { url, clock, random, metrics, writersMax = WRITERS_MAX, onWait, onStatement } = options;
  const idStep = await prepare(url, clock, onWait);
  const pool = { url, onStatement };
  return new MysqlTruth({
    writers: new Pool({ ...pool, greeting: WRITER_GREETING, connectionsMax: writersMax }),
    readers: new Pool({ ...pool, greeting: READER_GREETING, connectionsMax: Math.ceil(writersMax * 1.5) }),
    patience: new Patience(clock, random, metrics),
    random,
    idStep,
  });
}

/** Waits for the server, looks whether it will do, and brings its schema up to date; answers how far apart it gives out ids. */
async function prepare(url: string, clock: Clock, onWait: MysqlTruthOptions['onWait']): Promise<number> {
  const pool = new Pool({ url, greeting: GREETING, connectionsMax: 1 });
  const untilMs = clock.steadyMs() + START_MS;
  try {
    for (let isFirst = true; ; isFirst = false) {
      try {
        return await prepareOnce(pool);
      } catch (error) {
        if (failureOf(error) === 'refused') throw explained(error);
        if (clock.steadyMs() >= untilMs) throw translated(error);
        if (isFirst) onWait?.(translated(error), START_MS);
        await new Promise<void>((resolve) => clock.after(START_RETRY_MS, resolve));
      }
    }
  } finally {
    await pool.end();
  }
}

async function prepareOnce(pool: Pool): Promise<number> {
  // Migrations take the time they take; that of others is waited for within bounds.
  const session = await pool.acquire(ENDLESS);
  try {
    await checkVersion(session);
    await migrate(session);
    const [row] = await session.all('SELECT @@auto_increment_increment', []);
    return Number(row?.[0]);
  } finally {
    session.release();
  }
}

async function checkVersion(session: Session): Promise<void> {
  const [row] = await session.all('SELECT VERSION()', []);
  const version = String(row?.[0]);
  const product = version.includes('MariaDB') ? 'MariaDB' : 'MySQL';
  // Some MariaDB servers say "5.5.5-10.11.4-MariaDB" for the sake of old clients.
  const numbers = version
    .replace(/^5\.5\.5-/, '')
    .split(/[.-]/, 3)
    .map(Number);
  const oldest = OLDEST[product];
  const at = oldest.findIndex((least, i) => numbers[i] !== least);
  if (at >= 0 && (numbers[at] ?? 0) < (oldest[at] ?? 0)) {
    const wanted = `MySQL ${OLDEST.MySQL.join('.')} or MariaDB ${OLDEST.MariaDB.join('.')}`;
    throw new DatabaseError('unsupported', `the server is ${product} ${version}; needed is at least ${wanted}`);
  }
}

/** Access denied, no such database, no right to create tables. */
function explained(error: unknown): unknown {
  if (error instanceof DatabaseError || !(error instanceof Error) || !('errno' in error)) return error;
  return new DatabaseError('refused', `the database cannot be used: ${error.message}`, error);
}
