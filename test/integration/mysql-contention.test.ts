import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { createMetrics, type MetricsRegistry } from '../../src/metrics.ts';
import type { MysqlTruth } from '../../src/truth/mysql/truth.ts';
import { freshName } from '../support/fresh-name.ts';
import { type Database, freshDatabase, openTruthAt } from '../support/mysql-database.ts';
import { onEachServer } from '../support/mysql-servers.ts';
import { openServiceBench, type ServiceBench } from '../support/service-bench.ts';

/** Whoever else writes to the database locks its rows as they like. What of ours is in their way runs again, and nobody hears of it. */
/** What the server says of its transactions is what it was until nobody has asked for 100 ms. */
const LOOK_MS = 130;
/** What makes their transaction the heavier one: the server breaks off the other. */
const WEIGHT = 50;

await onEachServer((server) => {
  let database: Database;
  let metrics: MetricsRegistry;
  let truth: MysqlTruth;
  let bench: ServiceBench;
  let watch: Connection;

  beforeAll(async () => {
    database = await freshDatabase(server);
    metrics = createMetrics();
    truth = await openTruthAt(database.url, { metrics });
    watch = await createConnection(database.url);
  });
  afterAll(async () => {
    await Promise.all([watch.end(), truth.close()]);
    await database.drop();
  });
  beforeEach(() => {
    bench = openServiceBench({ truth: () => truth });
  });

  async function contended(): Promise<number> {
    return Number(/^tidemark_truth_retries_total\{reason="contended"\} (\d+)$/m.exec(await metrics.render())?.[1] ?? 0);
  }

  /** In a transaction of somebody else. */
  async function outsider(): Promise<Connection> {
    const connection = await createConnection(database.url);
    onTestFinished(async () => connection.destroy());
    await connection.query('START TRANSACTION');
    return connection;
  }

  async function lock(by: Connection, conv: string): Promise<void> {
    await by.query('SELECT conv FROM conversations WHERE conv = ? FOR UPDATE', [conv]);
  }

  async function conversations(count: number): Promise<string[]> {
    const convs = Array.from({ length: count }, () => freshName('conv')).toSorted();
    await bench.accept(...convs.map((conv) => ({ type: 'conversation.created', conv, members: ['ann', 'bob'] })));
    return convs;
  }

  async function post(convs: readonly string[]) {
    return bench.services.post.post(
      convs.map((conv) => ({ type: 'message.created', conv, message_id: 'm1', sender: 'bob' })),
    );
  }

  async function untilOneWaits(): Promise<void> {
    const isWaiting = async (): Promise<boolean> => {
      const [rows] = await watch.query<RowDataPacket[]>(
        `SELECT 1 FROM information_schema.innodb_trx t
         JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
         WHERE p.db = DATABASE() AND t.trx_state = 'LOCK WAIT'`,
      );
      return rows.length > 0;
    };
    await expect.poll(isWaiting, { interval: LOOK_MS }).toBe(true);
  }

  async function expectPostedOnce(convs: readonly string[]): Promise<void> {
    const once = { headSeq: 1, countable: 1 };
    expect(await truth.heads(convs)).toEqual(new Map(convs.map((conv) => [conv, once])));
    await bench.services.post.settled();
    for (const conv of convs) expect(await bench.unread('ann', conv)).toBe(1);
  }

  test('[OR1] a deadlock with somebody who locks in the opposite order: the batch runs again and is stored once', async () => {
    const convs = await conversations(2);
    const [first = '', last = ''] = convs;
    const before = await contended();
    const other = await outsider();
    const events = Array.from({ length: WEIGHT }, () => [freshName('event'), '', 0, 1]);
    await other.query('INSERT INTO events (event_id, fingerprint, seq, accepted_at) VALUES ?', [events]);
    await lock(other, last);
    const answers = post(convs);
    await untilOneWaits();
    // The batch has the first and waits for the last.
    await lock(other, first);
    await other.query('ROLLBACK');
    expect(await answers).toMatchObject(convs.map(() => ({ ok: true, seq: 1, duplicate: false })));
    expect(await contended()).toBe(before + 1);
    await expectPostedOnce(convs);
  });

  test('[OR1] a lock that is held for longer than the server lets one wait: the batch runs again and is stored once', async () => {
    const convs = await conversations(2);
    const before = await contended();
    const other = await outsider();
    await lock(other, convs[1] ?? '');
    const answers = post(convs);
    await expect.poll(contended, { interval: 50 }).toBeGreaterThan(before);
    await other.query('ROLLBACK');
    expect(await answers).toMatchObject(convs.map(() => ({ ok: true, seq: 1, duplicate: false })));
    await expectPostedOnce(convs);
  });
});
