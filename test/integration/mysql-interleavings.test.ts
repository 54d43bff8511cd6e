import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Truth } from '../../src/ports.ts';
import type { MysqlTruth } from '../../src/truth/mysql/truth.ts';
import { freshName } from '../support/fresh-name.ts';
import { createHeldTruth, type HeldTruth } from '../support/held-truth.ts';
import { type Database, freshDatabase, openTruthAt } from '../support/mysql-database.ts';
import { onEachServer } from '../support/mysql-servers.ts';
import { openServiceBench, type ServiceBench } from '../support/service-bench.ts';
import { createStop } from '../support/stop.ts';
import { conversationFacts } from '../support/truth-facts.ts';

/** ARCHITECTURE, truth and state: what one node writes while another stands before its commit waits for it, and then reads what it wrote. */
/** What the server says of its transactions is what it was until nobody has asked for 100 ms. */
const LOOK_MS = 130;

interface Nodes {
  readonly one: ServiceBench;
  readonly other: ServiceBench;
  /** Of their own conversation, with ann and bob. */
  readonly conv: string;
}

await onEachServer((server) => {
  let database: Database;
  let truths: readonly [MysqlTruth, MysqlTruth];
  let held: HeldTruth;
  let watch: Connection;

  beforeAll(async () => {
    database = await freshDatabase(server);
    const open = () => openTruthAt(database.url);
    truths = [await open(), await open()];
    held = createHeldTruth(truths[0]);
    watch = await createConnection(database.url);
  });
  afterAll(async () => {
    await Promise.all([watch.end(), ...truths.map((truth) => truth.close())]);
    await database.drop();
  });

  async function twoNodes(): Promise<Nodes> {
    const conv = freshName('conv');
    const one = openServiceBench({ truth: () => held.truth });
    const other = openServiceBench({ truth: () => truths[1] });
    await one.accept({ type: 'conversation.created', conv, members: ['ann', 'bob'] });
    return { one, other, conv };
  }

  /** `first` has written everything and not committed when `second` comes. */
  async function crossed<A, B>(first: () => Promise<A>, second: () => Promise<B>): Promise<[A, B]> {
    const commit = held.holdCommit();
    const one = first();
    await commit.reached;
    const other = second();
    await waiting(1, other);
    commit.letGo();
    return Promise.all([one, other]);
  }

  /** Resolves when so many transactions of the database wait for locks, or when there is nothing to wait for any more. */
  async function waiting(count: number, ended: Promise<unknown>): Promise<void> {
    let isOver = false;
    const over = (): void => void (isOver = true);
    ended.then(over, over);
    while (!isOver) {
      const [rows] = await watch.query<RowDataPacket[]>(
        `SELECT COUNT(*) AS found FROM information_schema.innodb_trx t
         JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
         WHERE p.db = DATABASE() AND t.trx_state = 'LOCK WAIT'`,
      );
      if (Number(rows[0]?.['found']) >= count) return;
      await sleep(LOOK_MS);
    }
  }

  /** The last deadlock of the server, where it was in this database. */
  async function deadlock(): Promise<string | null> {
    const [rows] = await watch.query<RowDataPacket[]>('SHOW ENGINE INNODB STATUS');
    const [, found = ''] = /LATEST DETECTED DEADLOCK([^]*?)\n-+\nTRANSACTIONS/.exec(String(rows[0]?.['Status'])) ?? [];
    return found.includes(database.name) ? found : null;
  }

  test('[CN6] a recall comes while its message commits: it finds the message', async () => {
    const { one, other, conv } = await twoNodes();
    await crossed(
      () => one.say(conv, 'bob', ['m1']),
      () => other.accept({ type: 'message.recalled', conv, message_id: 'm1' }),
    );
    expect(await other.unread('ann', conv)).toBe(0);
  });

  test('[CN6] the same, behind an event that is known already: what was read before the lock is of no account', async () => {
    const { one, other, conv } = await twoNodes();
    const known = { type: 'member.left', conv, users: ['cem'], event_id: 'known' };
    await one.accept(known);
    await crossed(
      () => one.say(conv, 'bob', ['m1']),
      () => other.accept(known, { type: 'message.recalled', conv, message_id: 'm1' }),
    );
    expect(await other.unread('ann', conv)).toBe(0);
  });

  test('[CN7] an edit comes while its message commits: its mentions replace those of the message', async () => {
    const { one, other, conv } = await twoNodes();
    await crossed(
      () => one.say(conv, 'bob', ['m1'], { mentions: ['cem'] }),
      () => other.accept({ type: 'message.edited', conv, message_id: 'm1', mentions: ['ann'] }),
    );
    expect(await other.services.sync.view('ann')).toMatchObject({ total: 1, mentions: 1 });
  });

  test('[LC1] somebody joins while a message commits: the message is history, and the next one is not', async () => {
    const { one, other, conv } = await twoNodes();
    await crossed(
      () => one.say(conv, 'bob', ['m1']),
      () => other.accept({ type: 'member.joined', conv, users: ['dan'] }),
    );
    expect(await one.unread('dan', conv)).toBe(0);
    expect(await one.unread('ann', conv)).toBe(1);
    await other.say(conv, 'bob', ['m2']);
    expect(await other.unread('dan', conv)).toBe(1);
  });

  test('[OR2][OR1] a message comes on two nodes at once: it is stored once, and both answer its seq', async () => {
    const { one, other, conv } = await twoNodes();
    // Of no member, so that there is nothing else by which they could meet.
    const message = { type: 'message.created', conv, message_id: 'm1', sender: 'webhook' };
    const answers = await crossed(
      () => one.services.post.post([message]),
      () => other.services.post.post([message]),
    );
    expect(answers).toEqual([[{ ok: true, seq: 1, duplicate: false }], [{ ok: true, seq: 1, duplicate: true }]]);
  });

  test('[OR1] two messages on two nodes at once: the order of the commits is that of the seqs', async () => {
    const { one, other } = await twoNodes();
    const fresh = freshName('conv');
    const message = (message_id: string) => ({ type: 'message.created', conv: fresh, message_id, sender: 'bob' });
    // Also where the conversation comes into being by them.
    for (const [n, first, second] of [
      [1, 'm1', 'm2'],
      [3, 'm3', 'm4'],
    ] as const) {
      const answers = await crossed(
        () => one.services.post.post([{ ...message(first), members: ['ann'] }]),
        () => other.services.post.post([{ ...message(second), members: ['ann'] }]),
      );
      expect(answers).toMatchObject([[{ ok: true, seq: n }], [{ ok: true, seq: n + 1 }]]);
    }
    expect(await other.unread('ann', fresh)).toBe(4);
  });

  test('[OR1] a conversation that is new to two nodes at once comes into being once', async () => {
    const conv = freshName('conv');
    const stop = createStop();
    const found = (truth: Truth, then: () => Promise<void>) =>
      truth.transact(async (tx) => {
        const before = (await tx.load({ conversations: [conv], lockConversations: true })).conversation(conv);
        await then();
        await tx.store({ conversations: [before ?? conversationFacts({ conv })] });
        return before?.conv ?? 'nothing';
      });
    const first = found(truths[0], () => stop.here());
    await stop.reached;
    const second = found(truths[1], async () => {});
    await waiting(1, second);
    stop.letGo();
    expect(await Promise.all([first, second])).toEqual(['nothing', conv]);
  });

  test('[DT3] an event comes on two nodes at once, on two conversations: its event_id is used once', async () => {
    const { one, other, conv } = await twoNodes();
    const next = freshName('conv');
    await one.accept({ type: 'conversation.created', conv: next, members: ['ann', 'bob'] });
    const left = (where: string) => ({ type: 'member.left', conv: where, users: ['bob'], event_id: 'once' });
    const answers = await crossed(
      () => one.services.post.post([left(conv)]),
      () => other.services.post.post([left(next)]),
    );
    expect(answers).toMatchObject([[{ ok: true }], [{ ok: false, error: { code: 'event_id_conflict' } }]]);
    expect(await other.unread('bob', next)).toBe(0);
  });

  test('[AK1] two acks of a user on two nodes at once: the lower one is stale, and the position stays', async () => {
    const { one, other, conv } = await twoNodes();
    await one.say(conv, 'bob', ['m1', 'm2', 'm3', 'm4']);
    const [, late] = await crossed(
      () => one.services.commands.ack('ann', [{ conv, seq: 4 }]),
      () => other.services.commands.ack('ann', [{ conv, seq: 2 }]),
    );
    expect(late.items).toEqual([{ conv, status: 'stale', read_seq: 4, unread: 0 }]);
    expect(await other.unread('ann', conv)).toBe(0);
  });

  test('[DT3] two batches name the same event ids in opposite orders: both are stored without a deadlock', async () => {
    const { one, other, conv } = await twoNodes();
    const left = (event_id: string) => ({ type: 'member.left', conv, users: ['cem'], event_id });
    const events = ['a', 'b', 'c'].map(left);
    // A third one is at the id in the middle, so that each of the two is left with what it took before it.
    const third = await createConnection(database.url);
    await third.query('START TRANSACTION');
    await third.query("INSERT INTO events (event_id, fingerprint, seq, accepted_at) VALUES ('b', '', 0, 1)");
    const first = one.services.post.post(events);
    await waiting(1, first);
    const second = other.services.post.post(events.toReversed());
    await waiting(2, second);
    await third.query('ROLLBACK');
    await third.end();
    expect((await Promise.all([first, second])).flat().map(({ ok }) => ok)).toEqual(
      Array.from({ length: 6 }, () => true),
    );
    expect(await deadlock()).toBeNull();
  });
});
