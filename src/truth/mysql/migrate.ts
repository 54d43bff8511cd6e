import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Bug, Unavailable } from '../../errors.ts';
import { DatabaseError } from './database-error.ts';
import { RETRY_MS } from './failure.ts';
import type { Session } from './session.ts';

const FOLDER = join(import.meta.dirname, 'migrations');
const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;
/** One node migrates while the others that start with it wait. */
const LOCK_WAIT_S = 60;

const MIGRATIONS_TABLE = `
  CREATE TABLE IF NOT EXISTS migrations (
    number INT            NOT NULL,
    name   VARBINARY(128) NOT NULL,
    PRIMARY KEY (number)
  ) ENGINE = InnoDB DEFAULT CHARSET = binary`;
const TABLES = 'SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()';

interface Migration {
  readonly number: number;
  readonly name: string;
  readonly statements: readonly string[];
}

/**
 * Brings the schema up to date: forward only, in the order of the numbers, each migration once however many nodes start at once. DDL
 * commits by itself, so a crash can leave a migration half done: it is then run again from its start, and every statement of one must
 * stand that. A database of a newer version, or of another program, is left as it is.
 */
export async function migrate(session: Session, folder = FOLDER): Promise<void> {
  const migrations = readMigrations(folder);
  if (await isUpToDate(session, migrations)) return;
  const lock = await lockName(session);
  const [taken] = await session.all('SELECT GET_LOCK(?, ?)', [lock, LOCK_WAIT_S]);
  if (taken?.[0] !== 1) throw new Unavailable('another node has been migrating the database for a long time', RETRY_MS);
  try {
    await session.say(MIGRATIONS_TABLE);
    const reached = await reachedNumber(session, migrations.length);
    for (const { number, name, statements } of migrations.slice(reached)) {
      for (const sql of statements) await session.say(sql);
      await session.run('INSERT INTO migrations (number, name) VALUES (?, ?)', [number, name]);
    }
  } finally {
    await session.all('SELECT RELEASE_LOCK(?)', [lock]);
  }
}

/** Without a lock: a node that starts alone on a database that is in use waits for nobody. */
async function isUpToDate(session: Session, migrations: readonly Migration[]): Promise<boolean> {
  const tables = new Set((await session.all(TABLES, [])).map(([name]) => String(name)));
  if (tables.has('migrations')) return (await reachedNumber(session, migrations.length)) === migrations.length;
  const taken = ['conversations', 'messages', 'memberships'].filter((name) => tables.has(name));
  if (taken.length > 0) {
    throw new DatabaseError('foreign', `the database holds tables of another program: ${taken.join(', ')}`);
  }
  return false;
}

async function reachedNumber(session: Session, known: number): Promise<number> {
  const [row] = await session.all('SELECT MAX(number) FROM migrations', []);
  const reached = Number(row?.[0] ?? 0);
  if (reached > known) {
    const what = `its schema is at ${reached}, this version knows ${known}`;
    throw new DatabaseError('newer', `the database was written by a newer version of Tidemark (${what})`);
  }
  return reached;
}

/** Locks by name are the server's, so the name tells databases apart; it has at most 64 characters. */
async function lockName(session: Session): Promise<string> {
  const [row] = await session.all('SELECT DATABASE()', []);
  const database = createHash('sha1').update(String(row?.[0])).digest('hex');
  return `tidemark-migrate-${database}`;
}

/** In the order of their numbers, which begin at 1 and have no gaps. */
function readMigrations(folder: string): Migration[] {
  const files = readdirSync(folder).toSorted();
  return files.map((file, index) => {
    const number = Number(FILE_NAME.exec(file)?.[1]);
    if (number !== index + 1) throw new Bug(`migration ${file}: expected number ${index + 1}`);
    return { number, name: file, statements: statementsOf(readFileSync(join(folder, file), 'utf8')) };
  });
}

/** A statement ends with a semicolon at the end of a line; comments stand on lines of their own. */
function statementsOf(sql: string): string[] {
  const lines = sql.split('\n').filter((line) => !line.startsWith('--'));
  const statements = lines.join('\n').split(/;$/m);
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== '');
}
