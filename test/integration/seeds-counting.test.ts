import type { RowDataPacket } from 'mysql2/promise';
import { expect, test } from 'vitest';
import { parameter } from '../../src/truth/mysql/session.ts';
import { onEachServer } from '../support/mysql-servers.ts';
import { openSeedBench } from '../support/seed-bench.ts';

/** What goes wrong with counters, and does not with facts: each experiment both ways, on the same server. */
await onEachServer((server) => {
  const ids = (count: number, from = 1): string[] => Array.from({ length: count }, (_, n) => `m${from + n}`);

  test('[CN9] of 10 messages 3 are delivered twice: a counter says 13, and 3 for ever once all are read; derived it is 10, and 0', async () => {
    const { naive, ours } = await openSeedBench(server);
    const sent = await naive.send('c', 'alice', 10);
    for (const id of [...sent, ...sent.slice(0, 3)]) if (id > 0) await naive.deliver('c', 'bob');
    expect(await naive.counter('c', 'bob')).toBe(13);
    await naive.run('UPDATE naive_counters SET unread = unread - 10 WHERE conv = ? AND user = ?', 'c', 'bob');
    expect(await naive.counter('c', 'bob')).toBe(3);

    await ours.accept({ type: 'conversation.created', conv: 'c', members: ['alice', 'bob'] });
    await ours.say('c', 'alice', ids(10));
    await ours.say('c', 'alice', ids(3));
    expect(await ours.unread('bob', 'c')).toBe(10);
    await ours.services.commands.ack('bob', [{ conv: 'c', seq: 10 }]);
    expect(await ours.unread('bob', 'c')).toBe(0);
  });

  test('[AK1] a message arrives while "read" is on its way: clearing says 0 and one was never seen; "read up to 10" says 1', async () => {
    const { naive, ours } = await openSeedBench(server);
    await ours.accept({ type: 'conversation.created', conv: 'c', members: ['alice', 'bob'] });
    await ours.say('c', 'alice', ids(10));
    for (let n = 0; n < 10; n++) await naive.deliver('c', 'bob');

    // Bob has seen ten, and reports it. Before the report arrives, the eleventh does.
    await naive.deliver('c', 'bob');
    await ours.say('c', 'alice', ids(1, 11));

    await naive.run('UPDATE naive_counters SET unread = 0 WHERE conv = ? AND user = ?', 'c', 'bob');
    expect(await naive.counter('c', 'bob')).toBe(0);
    await ours.services.commands.ack('bob', [{ conv: 'c', seq: 10 }]);
    expect(await ours.unread('bob', 'c')).toBe(1);
  });

  test('[AK1][AK2] a report of 12 arrives after one of 20: overwritten it says 8, forward only it says 0', async () => {
    const { naive, ours } = await openSeedBench(server);
    await naive.send('c', 'alice', 20);
    await naive.run("INSERT INTO naive_watermarks (conv, user) VALUES ('c', 'bob')");
    const report = async (seq: number): Promise<unknown> =>
      naive.run('UPDATE naive_watermarks SET last_read = ? WHERE conv = ? AND user = ?', seq, 'c', 'bob');
    await report(20);
    await report(12);
    const unread = `
      SELECT COUNT(*) FROM naive_messages m JOIN naive_watermarks w ON w.conv = m.conv AND m.id > w.last_read WHERE w.user = ?`;
    expect(await naive.value(unread, 'bob')).toBe(8);

    await ours.accept({ type: 'conversation.created', conv: 'c', members: ['alice', 'bob'] });
    await ours.say('c', 'alice', ids(20));
    await ours.services.commands.ack('bob', [{ conv: 'c', seq: 20 }]);
    const late = await ours.services.commands.ack('bob', [{ conv: 'c', seq: 12 }]);
    expect(late.items).toEqual([{ conv: 'c', status: 'stale', read_seq: 20, unread: 0 }]);
    expect(await ours.unread('bob', 'c')).toBe(0);
  });

  test('[CN4] 20 own messages and never a report: counted by id it is 20, derived it is 0', async () => {
    const { naive, ours } = await openSeedBench(server);
    await naive.send('c', 'alice', 20);
    expect(await naive.value('SELECT COUNT(*) FROM naive_messages WHERE conv = ? AND id > 0', 'c')).toBe(20);

    await ours.accept({ type: 'conversation.created', conv: 'c', members: ['alice', 'bob'] });
    await ours.say('c', 'alice', ids(20));
    expect(await ours.unread('alice', 'c')).toBe(0);
    expect(await ours.unread('bob', 'c')).toBe(20);
  });

  test('a message to 1,000 members: counters write 999 rows, facts none but those of the message and its sender', async () => {
    const { naive, ours, statements } = await openSeedBench(server);
    const members = Array.from({ length: 1000 }, (_, n) => `user-${n}`);
    await naive.run(
      'INSERT INTO naive_counters (conv, user) VALUES ?',
      members.map((user) => ['c', user]),
    );
    const raised = await naive.run(
      'UPDATE naive_counters SET unread = unread + 1 WHERE conv = ? AND user <> ?',
      'c',
      'user-0',
    );
    expect(raised).toBe(999);

    await ours.accept({ type: 'conversation.created', conv: 'c', members });
    await ours.say('c', 'user-0', ['m1']);
    statements.length = 0;
    await ours.say('c', 'user-0', ['m2']);
    const written = statements.flatMap(({ sql, rows }) => {
      const [, table] = /^\s*(?:INSERT INTO|UPDATE|DELETE t FROM) (\w+)/.exec(sql) ?? [];
      // A row that an upsert replaces is counted as two.
      return table === undefined ? [] : [[table, Math.ceil(rows / 2)]];
    });
    expect(written).toEqual([
      ['conversations', 1],
      ['messages', 1],
      ['memberships', 1],
    ]);
    expect(await ours.unread('user-999', 'c')).toBe(2);
  });

  test('[CN1] 5,000 unread: a full count reads 5,000 rows, a capped one 100 and knows no more, the exact number from ordinals a handful', async () => {
    const { naive, ours, statements } = await openSeedBench(server);
    const watcher = await naive.connect();
    const rowsRead = async (sql: string, values: Parameters<typeof parameter>[0][]): Promise<number> => {
      const sum = async (): Promise<number> => {
        const [rows] = await watcher.query<RowDataPacket[][]>("SHOW SESSION STATUS LIKE 'Handler_read%'");
        return rows.reduce((total, [, value]) => total + Number(value), 0);
      };
      const before = await sum();
      await watcher.execute(sql, values.map(parameter));
      return (await sum()) - before;
    };
    await naive.run(
      'INSERT INTO naive_messages (conv, sender) VALUES ?',
      ids(5000).map(() => ['c', 'alice']),
    );
    const full = "SELECT COUNT(*) FROM naive_messages WHERE conv = 'c' AND sender <> 'bob' AND id > 0";
    const capped = `SELECT COUNT(*) FROM (SELECT 1 FROM naive_messages WHERE conv = 'c' AND sender <> 'bob' AND id > 0 LIMIT 100) t`;
    expect([await naive.value(full), await naive.value(capped)]).toEqual([5000, 100]);
    expect(await rowsRead(full, [])).toBeGreaterThanOrEqual(5000);
    expect(await rowsRead(capped, [])).toBeGreaterThanOrEqual(100);

    await ours.accept({ type: 'conversation.created', conv: 'c', members: ['alice', 'bob'] });
    for (let from = 1; from <= 5000; from += 500) await ours.say('c', 'alice', ids(500, from));
    statements.length = 0;
    const [facts] = await ours.truth.rows([{ conv: 'c', user: 'bob' }]);
    expect(facts).toBeDefined();
    expect(await ours.unread('bob', 'c')).toBe(5000);
    const [derive] = statements;
    expect(await rowsRead(derive!.sql, [...derive!.values])).toBeLessThan(20);
  });
});
