import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createConnection } from 'mysql2/promise';
import { expect, onTestFinished, test } from 'vitest';
import { freshDatabase } from '../support/mysql-database.ts';
import { startRedis } from '../support/redis.ts';
import { sharedMariadb } from '../support/shared-mariadb.ts';
import { openStreamBench } from '../support/stream-bench.ts';

const WORKER = fileURLToPath(new URL('./stream-worker.ts', import.meta.url));
const NODES = 2;
const PARTITIONS = 2;
/** Two of each stream. */
const CONVS = ['c0', 'c2', 'c4', 'eve'];
/** After how many durable batches a node is killed; each time another one takes its place. */
const KILLS = [3, 2, 5, 1, 4];
/** Of one conversation; only where no node ever gets anything done are there so many. */
const MESSAGES_MAX = 20_000;
const TIMEOUT_MS = 240_000;

test(
  '[OR1] nodes are killed between commit and acknowledgement: entries of one conversation are applied once, and in order',
  { timeout: TIMEOUT_MS },
  async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    const database = await freshDatabase(await sharedMariadb());
    onTestFinished(() => database.drop());
    const stream = openStreamBench(server, PARTITIONS);
    const running = new Set<ChildProcess>();
    onTestFinished(() => {
      for (const child of running) child.kill('SIGKILL');
    });

    const kills = [...KILLS];
    let killed = 0;
    let isOver = false;
    async function runNode(): Promise<void> {
      const args = [database.url, server.url, stream.prefix, String(PARTITIONS)];
      const child = spawn(process.execPath, [WORKER, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
      running.add(child);
      const ended = once(child, 'exit');
      const killAt = kills.shift();
      let batches = 0;
      for await (const _batch of createInterface(child.stdout)) {
        batches++;
        if (batches === killAt) child.kill('SIGKILL');
      }
      const [, signal] = (await ended) as [number | null, string | null];
      running.delete(child);
      if (signal !== 'SIGKILL') throw new Error('a node ended by itself');
      if (isOver) return;
      killed++;
      await runNode();
    }
    const nodes = Promise.all(Array.from({ length: NODES }, () => runNode()));
    let failure: unknown = null;
    nodes.catch((error: unknown) => (failure = error));

    // A message at a time, so that batches are small, and until the last kill, so that each of them finds others behind it.
    let messages = 0;
    while (killed < KILLS.length && messages < MESSAGES_MAX && failure === null) {
      for (const conv of CONVS) {
        await stream.add({
          type: 'message.created',
          conv,
          message_id: `m${messages}`,
          sender: 'bob',
          members: ['ann', 'bob'],
        });
      }
      messages++;
      await sleep(10);
    }
    expect([failure, killed]).toEqual([null, KILLS.length]);
    await expect.poll(() => stream.waiting(), { timeout: TIMEOUT_MS / 2 }).toBe(0);
    isOver = true;
    for (const child of running) child.kill('SIGKILL');
    await nodes;

    const connection = await createConnection({ uri: database.url, rowsAsArray: true });
    const [rows] = await connection.query('SELECT conv, message_id, seq FROM messages ORDER BY conv, seq');
    await connection.end();
    const stored = (rows as [Buffer, Buffer, number][]).map(
      ([conv, id, seq]) => `${conv.toString()} ${id.toString()} ${seq}`,
    );
    const wanted = CONVS.flatMap((conv) => Array.from({ length: messages }, (_, n) => `${conv} m${n} ${n + 1}`));
    expect(stored).toEqual(wanted);
    expect(await stream.dead()).toEqual([]);
  },
);
