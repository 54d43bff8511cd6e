import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createConnection } from 'mysql2/promise';
import { expect, onTestFinished, test } from 'vitest';
import { deriveRow } from '../../src/core/row.ts';
import { freshDatabase, openTruthAt } from '../support/mysql-database.ts';
import { onEachServer } from '../support/mysql-servers.ts';
import { batchOf, CONVS, MEMBERS, MESSAGES_A_BATCH, WRITERS } from './mysql-hot-batches.ts';

const WRITER = fileURLToPath(new URL('./mysql-hot-writer.ts', import.meta.url));
/** Of each writer. MySQL gets fewer: it locks like MariaDB, and takes longer. */
const BATCHES = { MariaDB: 63, MySQL: 16 } as const;
/** Shares of all batches that are answered when the process is killed. */
const KILLS = [0.2, 0.5, 0.8];
const TIMEOUT_MS = 300_000;

await onEachServer((server, product) => {
  const batches = BATCHES[product];
  const allBatches = WRITERS * batches;
  const messages = allBatches * MESSAGES_A_BATCH;
  test(
    `[OR1][OR2] ${WRITERS} writers, ${CONVS.length} hot conversations, ${messages} messages, three SIGKILLs: no deadlock reaches a caller, no seq is missing or given twice`,
    { timeout: TIMEOUT_MS },
    async () => {
      const database = await freshDatabase(server);
      onTestFinished(async () => database.drop());
      const answered = new Map<string, readonly number[]>();
      for (const share of KILLS) await runWriter(database.url, batches, answered, Math.round(allBatches * share));
      await runWriter(database.url, batches, answered, null);
      expect(answered.size).toBe(allBatches);

      const stored = await storedMessages(database.url);
      expect(stored.size).toBe(messages);
      const wrong: string[] = [];
      for (const [key, seqs] of answered) {
        const [writer = 0, batch = 0] = key.split(' ').map(Number);
        batchOf(writer, batch).forEach(({ conv, message_id: id }, n) => {
          if (stored.get(`${conv} ${id}`) !== seqs[n]) wrong.push(`${conv} ${id}: answered ${seqs[n]}`);
        });
      }
      expect(wrong).toEqual([]);
      await expectWhole(database.url, stored);
    },
  );
});

/** Runs until it is done, or killed once so many batches are answered. */
async function runWriter(
  url: string,
  batches: number,
  answered: Map<string, readonly number[]>,
  killAt: number | null,
): Promise<void> {
  const next = Array.from({ length: WRITERS }, (_, writer) => {
    let batch = 0;
    while (answered.has(`${writer} ${batch}`)) batch++;
    return String(batch);
  });
  const child = spawn(process.execPath, [WRITER, url, String(batches), ...next], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  // Also reads what was in the pipe when the process died: those answers were given.
  for await (const line of createInterface(child.stdout)) {
    const [writer = '', batch = '', seqs = ''] = line.split(' ');
    if (writer === 'done') continue;
    answered.set(`${writer} ${batch}`, seqs.split(',').map(Number));
    if (answered.size === killAt) child.kill('SIGKILL');
  }
  expect(await ended).toEqual(killAt === null ? [0, null] : [null, 'SIGKILL']);
}

/** `conv message_id` → seq. */
async function storedMessages(url: string): Promise<Map<string, number>> {
  const connection = await createConnection({ uri: url, rowsAsArray: true });
  const [rows] = await connection.query('SELECT conv, message_id, seq FROM messages');
  await connection.end();
  return new Map(
    (rows as [Buffer, Buffer, number][]).map(([conv, id, seq]) => [`${conv.toString()} ${id.toString()}`, seq]),
  );
}

/** Every conversation has the seqs 1 … head, and every member's row counts what is there. */
async function expectWhole(url: string, stored: ReadonlyMap<string, number>): Promise<void> {
  const truth = await openTruthAt(url);
  const heads = await truth.heads(CONVS);
  for (const conv of CONVS) {
    const seqs = [...stored].flatMap(([key, seq]) => (key.startsWith(`${conv} `) ? [seq] : []));
    const head = seqs.length;
    expect(heads.get(conv)).toEqual({ headSeq: head, countable: head });
    expect(seqs.toSorted((a, b) => a - b)).toEqual(Array.from({ length: head }, (_, n) => n + 1));
    for (const facts of await truth.rows(MEMBERS.map((user) => ({ conv, user })))) {
      const { unread } = await truth.countMessages(facts.membership, 0);
      expect(deriveRow(facts, 500).unread).toBe(unread);
    }
  }
  // What refers to an event or a conversation that was never stored is gone with its transaction.
  expect(await truth.users(null, MEMBERS.length + 1)).toEqual(MEMBERS);
  await truth.close();
}
