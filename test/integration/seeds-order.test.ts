import type { ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import { expect, test } from 'vitest';
import type { Truth } from '../../src/ports.ts';
import { onEachServer } from '../support/mysql-servers.ts';
import { openSeedBench } from '../support/seed-bench.ts';
import { conversationFacts, messageFacts } from '../support/truth-facts.ts';

/** "Every message below the one I read I have seen" holds only where numbers are given out in the order of the commits. */
await onEachServer((server) => {
  test('[OR1] two writers, the first commits last: by ids a reader misses one for ever; by seqs nothing is visible above a gap', async () => {
    const { naive, truth } = await openSeedBench(server);
    const [a, b] = [await naive.connect(), await naive.connect()];
    const insert = "INSERT INTO naive_messages (conv, sender) VALUES ('c', 'alice')";
    await a.query('START TRANSACTION');
    const [{ insertId: idOfA }] = await a.query<ResultSetHeader>(insert);
    const [{ insertId: idOfB }] = await b.query<ResultSetHeader>(insert);
    expect(idOfA).toBeLessThan(idOfB);
    // Carol looks between the two commits, and remembers the highest id that she saw.
    expect(await naive.value('SELECT COUNT(*) FROM naive_messages')).toBe(1);
    const lastRead = await naive.value('SELECT MAX(id) FROM naive_messages');
    await a.query('COMMIT');
    expect(await naive.value('SELECT COUNT(*) FROM naive_messages WHERE id > ?', lastRead)).toBe(0);
    expect(await naive.value('SELECT COUNT(*) FROM naive_messages WHERE id <= ?', lastRead)).toBe(2);

    const first = await openPost(truth, 'a');
    const second = openPost(truth, 'b');
    expect(first.seq).toBe(1);
    const seen: number[] = [await headOf(truth)];
    first.commit();
    await first.committed;
    seen.push(await headOf(truth));
    const last = await second;
    last.commit();
    await last.committed;
    seen.push(await headOf(truth));
    expect([last.seq, seen]).toEqual([2, [0, 1, 2]]);
  });

  test('[OR1] a transaction is rolled back: the id that it was given is a hole; a seq is given to the next', async () => {
    const { naive, truth } = await openSeedBench(server);
    const [before = 0] = await naive.send('c', 'alice', 1);
    const other = await naive.connect();
    await other.query('START TRANSACTION');
    await other.query("INSERT INTO naive_messages (conv, sender) VALUES ('c', 'alice')");
    await other.query('ROLLBACK');
    const [after = 0] = await naive.send('c', 'alice', 1);
    expect(after - before).toBe(2);

    const first = await openPost(truth, 'm1');
    first.commit();
    await first.committed;
    const broken = await openPost(truth, 'm2');
    broken.fail();
    await expect(broken.committed).rejects.toThrow('taken back');
    const next = await openPost(truth, 'm3');
    next.commit();
    await next.committed;
    expect([first.seq, broken.seq, next.seq]).toEqual([1, 2, 2]);
  });

  test('[OR1] the lock of the conversation makes the order of seqs that of commits: the second waits for the first, unseen by its caller', async () => {
    const { naive, truth } = await openSeedBench(server);
    await naive.run(
      'CREATE TABLE naive_heads (conv VARCHAR(64) NOT NULL PRIMARY KEY, last_seq BIGINT NOT NULL) ENGINE = InnoDB',
    );
    await naive.run("INSERT INTO naive_heads VALUES ('c', 0)");
    const [a, b] = [await naive.connect(), await naive.connect()];
    await b.query('SET SESSION innodb_lock_wait_timeout = 1');
    const take = "SELECT last_seq + 1 FROM naive_heads WHERE conv = 'c' FOR UPDATE";
    const raise = "UPDATE naive_heads SET last_seq = last_seq + 1 WHERE conv = 'c'";
    await a.query('START TRANSACTION');
    const [ofA] = await a.query<RowDataPacket[][]>(take);
    await a.query(raise);
    await b.query('START TRANSACTION');
    await expect(b.query(take)).rejects.toMatchObject({ errno: 1205 });
    await b.query('ROLLBACK');
    await a.query('COMMIT');
    const [ofB] = await b.query<RowDataPacket[][]>(take);
    expect([ofA[0]?.[0], ofB[0]?.[0]]).toEqual([1, 2]);

    // The same, and whoever waits longer than the server lets a lock be waited for is tried again, unless its own time is up.
    const first = await openPost(truth, 'm1');
    const waiting = openPost(truth, 'm2');
    first.commit();
    await first.committed;
    const second = await waiting;
    second.commit();
    await second.committed;
    expect([first.seq, second.seq]).toEqual([1, 2]);
  });
});

interface OpenPost {
  readonly seq: number;
  readonly committed: Promise<void>;
  commit(): void;
  fail(): void;
}

/** A post that has been given its seq and holds its transaction open until it is told how to end. */
async function openPost(truth: Truth, messageId: string): Promise<OpenPost> {
  const given = Promise.withResolvers<number>();
  const end = Promise.withResolvers<void>();
  const committed = truth.transact(async (tx) => {
    const before = (await tx.load({ conversations: ['c'], lockConversations: true })).conversation('c');
    const seq = (before?.headSeq ?? 0) + 1;
    await tx.store({
      conversations: [conversationFacts({ conv: 'c', headSeq: seq, headOrd: seq, rev: seq })],
      newMessages: [messageFacts({ conv: 'c', seq, messageId })],
    });
    given.resolve(seq);
    await end.promise;
  });
  committed.catch(given.reject);
  return {
    seq: await given.promise,
    committed,
    commit: () => end.resolve(),
    fail: () => end.reject(new Error('taken back')),
  };
}

async function headOf(truth: Truth): Promise<number> {
  return (await truth.heads(['c'])).get('c')?.headSeq ?? 0;
}
