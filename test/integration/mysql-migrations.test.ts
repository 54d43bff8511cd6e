import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/system.ts';
import { DatabaseError } from '../../src/truth/mysql/database-error.ts';
import { migrate } from '../../src/truth/mysql/migrate.ts';
import { Pool } from '../../src/truth/mysql/pool.ts';
import type { Session } from '../../src/truth/mysql/session.ts';
import { type Database, freshDatabase, openTruthAt, say } from '../support/mysql-database.ts';
import { onEachServer } from '../support/mysql-servers.ts';
import { dumpSchema } from '../support/schema-dump.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { conversationFacts, store } from '../support/truth-facts.ts';

const NODES = 20;
const MIGRATIONS = join(import.meta.dirname, '../../src/truth/mysql/migrations');
const LATEST = readdirSync(MIGRATIONS).length;
const SCHEMA = join(import.meta.dirname, '../../src/truth/mysql/schema.sql');

await onEachServer((server) => {
  const database = async (): Promise<Database> => {
    const made = await freshDatabase(server);
    onTestFinished(async () => made.drop());
    return made;
  };

  test('twenty nodes that start at once on an empty database migrate it once', async () => {
    const { url } = await database();
    const statements: string[] = [];
    const nodes = await Promise.all(
      Array.from({ length: NODES }, async () => onSession(url, async (session) => migrate(session), statements)),
    );
    expect(nodes).toHaveLength(NODES);
    const made = statements.filter((sql) => sql.startsWith('CREATE TABLE IF NOT EXISTS messages '));
    expect(made).toHaveLength(1);
    expect(statements.filter((sql) => sql.startsWith('INSERT INTO migrations'))).toHaveLength(LATEST);
  });

  test('the schema is that of src/truth/mysql/schema.sql', async () => {
    const { url } = await database();
    await onSession(url, async (session) => migrate(session));
    const head = '-- What all migrations together make; written by the test that compares it (vitest -u).\n\n';
    await expect(head + (await dumpSchema(url))).toMatchFileSnapshot(SCHEMA);
  });

  test('a node that starts later changes nothing, and finds what was there', async () => {
    const { url } = await database();
    const first = await openTruthAt(url);
    await store(first, { conversations: [conversationFacts({ conv: 'kept', rev: 7 })] });
    await first.close();
    const statements: string[] = [];
    await onSession(url, async (session) => migrate(session), statements);
    expect(statements.filter((sql) => /CREATE|INSERT|GET_LOCK/.test(sql))).toEqual([]);
    const second = await openTruthAt(url);
    expect((await second.revsOf(['kept'])).get('kept')).toBe(7);
    await second.close();
  });

  test('what a crash left half done is done by the next start', async () => {
    const { url } = await database();
    const folder = join(tempFolder(), 'migrations');
    cpSync(MIGRATIONS, folder, { recursive: true });
    const added = join(folder, `${String(LATEST + 1).padStart(4, '0')}_added.sql`);
    const half = 'CREATE TABLE IF NOT EXISTS added (id INT NOT NULL PRIMARY KEY);\n';
    writeFileSync(added, `${half}CREATE TABLE IF NOT EXISTS broken (id NOTHING);\n`);
    await expect(onSession(url, async (session) => migrate(session, folder))).rejects.toThrow(/NOTHING/);
    writeFileSync(added, `${half}CREATE TABLE IF NOT EXISTS mended (id INT NOT NULL PRIMARY KEY);\n`);
    await onSession(url, async (session) => migrate(session, folder));
    expect(await dumpSchema(url)).toMatch(/TABLE added[^]*TABLE mended/);
  });

  test('a database of a newer version, or of another program, is left as it is', async () => {
    const { url } = await database();
    await onSession(url, async (session) => migrate(session));
    await say(url, `INSERT INTO migrations (number, name) VALUES (${LATEST + 1}, 'from_the_future.sql')`);
    await expect(openTruthAt(url)).rejects.toMatchObject({ name: 'DatabaseError', fault: 'newer' });

    const foreign = await database();
    await say(foreign.url, 'CREATE TABLE messages (id INT NOT NULL PRIMARY KEY)');
    await expect(openTruthAt(foreign.url)).rejects.toMatchObject({ fault: 'foreign' });
    expect(await dumpSchema(foreign.url)).not.toContain('conversations');
  });

  test('a database that is not there, or does not let us in, is an error that says so, at once', async () => {
    const nowhere = new URL('tidemark_nowhere', server).href;
    await expect(openTruthAt(nowhere)).rejects.toThrow(/cannot be used.*tidemark_nowhere/);
    const stranger = new URL('tidemark_nowhere', server);
    stranger.username = 'stranger';
    stranger.password = 'secret-of-the-stranger';
    const refused = openTruthAt(stranger.href);
    await expect(refused).rejects.toBeInstanceOf(DatabaseError);
    await expect(refused).rejects.not.toThrow(/secret-of-the-stranger/);
  });

  test('files without a number in its turn are no migrations', async () => {
    const { url } = await database();
    const folder = join(tempFolder(), 'migrations');
    mkdirSync(folder);
    writeFileSync(join(folder, '0002_second.sql'), '');
    await expect(onSession(url, async (session) => migrate(session, folder))).rejects.toThrow('expected number 1');
  });
});

async function onSession<T>(url: string, work: (session: Session) => Promise<T>, statements?: string[]): Promise<T> {
  const onStatement = (sql: string): void => void statements?.push(sql.trim());
  const pool = new Pool({ url, connectionsMax: 1, greeting: [], onStatement });
  const controller = new AbortController();
  const cancel = systemClock.after(50_000, () => controller.abort(new Error('the migration took too long')));
  const session = await pool.acquire({ signal: controller.signal, answered: () => {} });
  try {
    return await work(session);
  } finally {
    session.release();
    await pool.end();
    cancel();
  }
}
