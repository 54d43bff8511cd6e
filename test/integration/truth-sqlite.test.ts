import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Bug, Unavailable } from '../../src/errors.ts';
import type { Truth } from '../../src/ports.ts';
import { Connection } from '../../src/truth/sqlite/connection.ts';
import { TruthFileError, type TruthFileFault } from '../../src/truth/sqlite/file-error.ts';
import { migrate } from '../../src/truth/sqlite/migrate.ts';
import { openSqliteTruth } from '../../src/truth/sqlite/open.ts';
import { SqliteTruth } from '../../src/truth/sqlite/truth.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { conversationFacts, membershipFacts, messageFacts, store } from '../support/truth-facts.ts';

const WRITER = fileURLToPath(new URL('./truth-sqlite-writer.ts', import.meta.url));

describe('one data folder serves one process', () => {
  test('a second process is told so, and the first is none the worse', async () => {
    const file = join(tempFolder(), 'truth.db');
    const truth = open(file);
    const second = spawn(process.execPath, [WRITER, file, 'conv'], { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    second.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const [code] = await once(second, 'close');
    expect(code).toBe(1);
    expect(said).toContain(`${file} is in use by another process`);
    expect(faultOf(() => openSqliteTruth({ file }))).toBe('locked');
    await store(truth, { conversations: [conversationFacts({ conv: 'conv' })] });
    expect((await truth.revsOf(['conv'])).size).toBe(1);
  });

  test('the lock of a killed process is gone with it; that of a closed truth too', async () => {
    const file = join(tempFolder(), 'truth.db');
    const holder = spawn(process.execPath, [WRITER, file, 'conv'], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(holder.stdout, 'data');
    expect(faultOf(() => openSqliteTruth({ file }))).toBe('locked');
    holder.kill('SIGKILL');
    await once(holder, 'close');
    for (let round = 0; round < 3; round++) {
      const truth = openSqliteTruth({ file });
      expect((await truth.revsOf(['conv'])).get('conv')).toBeGreaterThan(0);
      await truth.close();
    }
  });
});

describe('a file that cannot be used is left as it is', () => {
  const unusable: [string, TruthFileFault, (file: string) => void][] = [
    ['no database', 'damaged', (file) => writeFileSync(file, 'not a database at all\n'.repeat(500))],
    ['cut short', 'damaged', (file) => truncateSync(file, 20_000)],
    [
      'overwritten',
      'damaged',
      (file) => writeFileSync(file, Buffer.concat([readFileSync(file).subarray(0, 4096), Buffer.alloc(60_000, 0x5a)])),
    ],
    ['of another program', 'foreign', (file) => edit(file, 'PRAGMA application_id = 7; PRAGMA journal_mode = DELETE')],
    ['of a newer version', 'newer', (file) => edit(file, 'PRAGMA user_version = 99')],
  ];
  test.each(unusable)('%s', async (_what, fault, spoil) => {
    const file = join(tempFolder(), 'truth.db');
    const truth = openSqliteTruth({ file });
    await store(truth, { conversations: [conversationFacts({ conv: 'conv' })] });
    await truth.close();
    spoil(file);
    const before = readFileSync(file);
    const opening = (): Truth => openSqliteTruth({ file });
    expect(faultOf(opening)).toBe(fault);
    // It says which file.
    expect(opening).toThrow(file);
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test('a folder that cannot be made, a file that is a folder', () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'file'), '');
    expect(faultOf(() => openSqliteTruth({ file: join(folder, 'file', 'truth.db') }))).toBe('unusable');
    mkdirSync(join(folder, 'truth.db'));
    expect(faultOf(() => openSqliteTruth({ file: join(folder, 'truth.db') }))).toBe('unusable');
  });

  test('a damaged page that only a later read meets is named too', async () => {
    const file = join(tempFolder(), 'truth.db');
    const first = openSqliteTruth({ file });
    for (let n = 0; n < 20; n++) {
      const convs = Array.from({ length: 50 }, (_, m) => `conv-${n}-${m}`);
      await store(first, {
        conversations: convs.map((conv) => conversationFacts({ conv })),
        memberships: convs.map((conv) => membershipFacts({ conv, user: 'ann' })),
      });
    }
    await first.close();
    const bytes = readFileSync(file);
    // All but the first 32 pages, among which are the roots of all tables.
    bytes.fill(0x5a, 32 * 4096);
    writeFileSync(file, bytes);
    const truth = open(file);
    await expect(truth.rowsOfUser('ann')).rejects.toMatchObject({ name: 'TruthFileError', fault: 'damaged' });
  });
});

describe('migrations', () => {
  test('run once each; opening again changes nothing', async () => {
    const file = join(tempFolder(), 'truth.db');
    await openSqliteTruth({ file }).close();
    const schema = schemaOf(file);
    expect(schema.length).toBeGreaterThan(5);
    await openSqliteTruth({ file }).close();
    expect(schemaOf(file)).toEqual(schema);
  });

  test('go forward from wherever a file stands, and all or none of them', () => {
    const folder = tempFolder();
    const file = join(folder, 'truth.db');
    const steps = join(folder, 'steps');
    mkdirSync(steps);
    const connection = new Connection(file, { readOnly: false, onStatement: undefined });
    onTestFinished(() => connection.close());
    writeFileSync(join(steps, '0001_one.sql'), 'CREATE TABLE one (a TEXT) STRICT;');
    migrate(connection, file, steps);
    writeFileSync(join(steps, '0002_two.sql'), 'CREATE TABLE two (a TEXT) STRICT;');
    writeFileSync(
      join(steps, '0003_three.sql'),
      'CREATE TABLE three (a TEXT) STRICT; CREATE TABLE two (a TEXT) STRICT;',
    );
    expect(() => migrate(connection, file, steps)).toThrow(/two already exists/);
    expect(schemaOf(file)).toEqual(['one']);
    writeFileSync(join(steps, '0003_three.sql'), 'CREATE TABLE three (a TEXT) STRICT;');
    migrate(connection, file, steps);
    migrate(connection, file, steps);
    expect(schemaOf(file)).toEqual(['one', 'three', 'two']);
    writeFileSync(join(steps, '0005_five.sql'), '');
    expect(() => migrate(connection, file, steps)).toThrow(Bug);
  });
});

describe('failures on the way', () => {
  test('a full disk takes the transaction back as Unavailable, and truth goes on when there is room again', async () => {
    const file = join(tempFolder(), 'truth.db');
    const writer = new Connection(file, { readOnly: false, onStatement: undefined });
    const truth = withParts(file, async () => undefined, writer);
    const big = Array.from({ length: 500 }, (_, n) =>
      messageFacts({ conv: 'conv', seq: n + 1, messageId: `${n}`.padEnd(100, 'x') }),
    );
    const writes = {
      conversations: [conversationFacts({ conv: 'conv', headSeq: 500, headOrd: 500 })],
      newMessages: big,
    };

    writer.exec('PRAGMA max_page_count = 30');
    const error = await store(truth, writes).catch((caught: unknown) => caught as Unavailable);
    expect(error).toBeInstanceOf(Unavailable);
    expect((error as Unavailable).message).toBe('truth cannot grow: the disk is full');
    expect(((error as Unavailable).cause as Error).message).toContain(file);
    expect((await truth.revsOf(['conv'])).size).toBe(0);
    writer.exec('PRAGMA max_page_count = 100000');
    await store(truth, writes);
    expect((await truth.heads(['conv'])).get('conv')?.countable).toBe(500);
  });

  test("no answer before the disk has it; transactions do not wait for each other's disk, and share it", async () => {
    const flushes: { resolve: () => void; reject: (error: Error) => void }[] = [];
    const flush = async (): Promise<void> => new Promise((resolve, reject) => flushes.push({ resolve, reject }));
    const truth = withParts(join(tempFolder(), 'truth.db'), flush);
    const answered: string[] = [];
    const post = async (conv: string): Promise<void> => {
      await store(truth, { conversations: [conversationFacts({ conv })] });
      answered.push(conv);
    };
    const first = post('first');
    await until(() => flushes.length === 1);
    const others = [post('second'), post('third')];
    await until(async () => (await truth.revsOf(['third'])).size === 1);
    expect(answered).toEqual([]);
    // What was committed while the first flush ran waits for the next one.
    flushes[0]?.resolve();
    await first;
    await until(() => flushes.length === 2);
    expect(answered).toEqual(['first']);
    flushes[1]?.resolve();
    await Promise.all(others);

    const failed = post('failed');
    await until(() => flushes.length === 3);
    flushes[2]?.reject(new Error('input/output error'));
    await expect(failed).rejects.toThrow(Unavailable);
    // Nobody knows what the disk holds: nothing is answered any more.
    await expect(post('after')).rejects.toThrow(Unavailable);
    expect(flushes).toHaveLength(3);
    // Whoever asks whether it is ready is told, or nobody would know that it has to be started again.
    await expect(truth.ping()).rejects.toThrow('has to be opened again');
  });

  test('a transaction inside a transaction is refused, since it would wait for itself', async () => {
    const truth = open(join(tempFolder(), 'truth.db'));
    const nested = truth.transact(async () => truth.transact(async () => 'inner'));
    await expect(nested).rejects.toThrow(Bug);
    await expect(truth.transact(async () => truth.outboxDone([1]))).rejects.toThrow(Bug);
    // What is only started inside and runs later is none.
    let later = Promise.resolve('');
    await truth.transact(async () => {
      later = new Promise((resolve) => setTimeout(resolve, 0, '')).then(async () =>
        truth.transact(async () => 'later'),
      );
    });
    expect(await later).toBe('later');
  });

  test('a value that no column can hold is refused whole', async () => {
    const truth = open(join(tempFolder(), 'truth.db'));
    const writes = {
      conversations: [conversationFacts({ conv: 'conv' })],
      memberships: [membershipFacts({ conv: 'conv', user: 'ann', readSeq: 1.5 })],
    };
    await expect(store(truth, writes)).rejects.toThrow(Bug);
    expect((await truth.revsOf(['conv'])).size).toBe(0);
  });
});

describe('cost', () => {
  test('a message costs the same statements and rows in a conversation of 2 and of 2,000 members', async () => {
    const counts: string[][] = [];
    for (const members of [2, 2_000]) {
      const { truth, statements } = openCounted(join(tempFolder(), 'truth.db'));
      const users = Array.from({ length: members }, (_, n) => `user-${n}`);
      await store(truth, {
        conversations: [conversationFacts({ conv: 'conv', memberCount: members })],
        memberships: users.map((user) => membershipFacts({ conv: 'conv', user })),
      });
      statements.length = 0;
      await truth.transact(async (tx) => {
        const sender = { conv: 'conv', user: 'user-1' };
        const facts = await tx.load({
          eventIds: ['event'],
          conversations: ['conv'],
          lockConversations: true,
          memberships: [sender],
          messagesById: [{ conv: 'conv', messageId: 'm1' }],
          parked: [{ conv: 'conv', messageId: 'm1' }],
        });
        await tx.store({
          conversations: [{ ...facts.conversation('conv')!, headSeq: 1, headOrd: 1, rev: 2 }],
          newMessages: [messageFacts({ conv: 'conv', seq: 1, sender: 'user-1' })],
          memberships: [{ ...facts.membership('conv', 'user-1')!, ownOrd: 1 }],
          mentions: [{ conv: 'conv', seq: 1, sender: 'user-1', users: ['user-0'], all: false }],
          events: [{ eventId: 'event', fingerprint: 'f', seq: 1, acceptedAt: 1 }],
          outbox: [{ conv: 'conv', user: null }],
        });
        await tx.rows([sender]);
      });
      counts.push([...statements]);
    }
    expect(counts[0]?.length).toBeGreaterThan(10);
    expect(counts[1]).toEqual(counts[0]);
  });

  test('the rows of a user cost one statement, whatever is unread', async () => {
    const { truth, statements } = openCounted(join(tempFolder(), 'truth.db'));
    const convs = Array.from({ length: 100 }, (_, n) => `conv-${n}`);
    await store(truth, {
      conversations: convs.map((conv) => conversationFacts({ conv, headSeq: 50, headOrd: 50 })),
      memberships: convs.map((conv) => membershipFacts({ conv, user: 'ann' })),
      newMessages: convs.flatMap((conv) => Array.from({ length: 50 }, (_, n) => messageFacts({ conv, seq: n + 1 }))),
    });
    statements.length = 0;
    expect(await truth.rowsOfUser('ann')).toHaveLength(100);
    const [begin, one, commit, ...others] = statements;
    expect(others).toEqual([]);
    expect([begin, commit]).toEqual(['BEGIN: 0', 'COMMIT: 0']);
    expect(one).toMatch(/: 100$/);
  });
});

function open(file: string): Truth {
  return openCounted(file).truth;
}

/** Also answers each statement run, with its rows; closed when the test has ended. */
function openCounted(file: string): { truth: Truth; statements: string[] } {
  const statements: string[] = [];
  const truth = openSqliteTruth({ file, onStatement: (sql, rows) => statements.push(`${sql}: ${rows}`) });
  onTestFinished(async () => truth.close());
  return { truth, statements };
}

/** Not by way of openSqliteTruth: with a disk that does as the test wants, or a connection at which the test may turn. */
function withParts(file: string, flush: () => Promise<void>, given?: Connection): SqliteTruth {
  const writer = given ?? new Connection(file, { readOnly: false, onStatement: undefined });
  migrate(writer, file);
  const reader = new Connection(file, { readOnly: true, onStatement: undefined });
  const release = (): void => [reader, writer].forEach((connection) => connection.close());
  onTestFinished(release);
  return new SqliteTruth({ writer, reader, flush, release });
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  await expect.poll(condition, { interval: 1 }).toBe(true);
}

function faultOf(work: () => unknown): TruthFileFault | null {
  try {
    work();
  } catch (error) {
    if (error instanceof TruthFileError) return error.fault;
    throw error;
  }
  return null;
}

function edit(file: string, sql: string): void {
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
}

function schemaOf(file: string): string[] {
  const db = new DatabaseSync(file, { readOnly: true });
  const names = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    .all();
  db.close();
  return names.map(({ name }) => String(name));
}
