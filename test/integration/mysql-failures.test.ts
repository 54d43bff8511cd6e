import { createConnection } from 'mysql2/promise';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { MariadbServer } from '../../loadtest/mariadb.ts';
import { Unavailable } from '../../src/errors.ts';
import { noMetrics } from '../../src/metrics.ts';
import type { Truth } from '../../src/ports.ts';
import { systemClock } from '../../src/system.ts';
import type { MysqlTruth } from '../../src/truth/mysql/truth.ts';
import { NEED_TIMEOUT_MS } from '../support/debian.ts';
import { freshName } from '../support/fresh-name.ts';
import { startMariadb } from '../support/mariadb.ts';
import { freshDatabase, openTruthAt } from '../support/mysql-database.ts';
import { openServiceBench } from '../support/service-bench.ts';
import { slowClock } from '../support/slow-clock.ts';
import { openTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { conversationFacts, messageFacts } from '../support/truth-facts.ts';

/** The time of truth passes more slowly than ours: on a busy machine its patience is not used up so soon. */
const SLOWER = 2;
/** Of a caller that is refused one deadline has passed, and not two. */
const ANSWERED_MS = SLOWER * 4_000;
const BACK_MS = 60_000;

let server: MariadbServer;
let url: string;
let proxy: TcpProxy;
let truth: MysqlTruth;
let retries: string[] = [];

beforeAll(async () => {
  server = await startMariadb();
  url = (await freshDatabase(server.url)).url;
  const target = new URL(url);
  proxy = await openTcpProxy(Number(target.port));
  target.port = String(proxy.port);
  truth = await openTruthAt(target.href, {
    clock: slowClock(SLOWER),
    metrics: { ...noMetrics, truthRetried: (reason) => void retries.push(reason) },
  });
}, NEED_TIMEOUT_MS);

beforeEach(() => {
  retries = [];
});

afterAll(async () => {
  await truth.close();
  await proxy.close();
  await server.stop();
});

test('a server that comes up after its node is waited for, and the node says so once, with the reason', async () => {
  const nobodyListens = 1;
  const late = await openTcpProxy(nobodyListens);
  onTestFinished(() => late.close());
  const target = new URL(url);
  const { port } = target;
  target.port = String(late.port);
  const told: unknown[] = [];
  const opened = await openTruthAt(target.href, {
    onWait: (error, patienceMs) => {
      told.push(error);
      expect(patienceMs).toBeGreaterThan(0);
      late.targetPort = Number(port);
    },
  });
  onTestFinished(() => opened.close());
  expect(told).toEqual([expect.any(Unavailable)]);
});

describe('connections', () => {
  test('those that are cut while nobody uses them are replaced before anybody hears of it', async () => {
    const conv = freshName('conv');
    await Promise.all(Array.from({ length: 8 }, async (_, n) => post(truth, `${conv}-${n}`, 'before')));
    proxy.cut();
    const reads = Array.from({ length: 8 }, async () => truth.revsOf([`${conv}-0`]));
    await Promise.all(Array.from({ length: 8 }, async (_, n) => post(truth, `${conv}-${n}`, 'after')));
    expect((await Promise.all(reads)).map((revs) => revs.size)).toEqual(Array.from({ length: 8 }, () => 1));
    expect((await truth.heads([`${conv}-7`])).get(`${conv}-7`)?.headSeq).toBe(2);
  });

  test('those that are killed inside transactions take the work with them, which runs again', async () => {
    const convs = Array.from({ length: 6 }, () => freshName('conv'));
    const runs = new Map(convs.map((conv) => [conv, 0]));
    const inside = Promise.withResolvers<void>();
    const killed = inside.promise.then(killConnections);
    const posting = convs.map(async (conv) =>
      truth.transact(async (tx) => {
        const before = (await tx.load({ conversations: [conv], lockConversations: true })).conversation(conv);
        await tx.store({ conversations: [conversationFacts({ conv, headSeq: 1, headOrd: 1 })] });
        runs.set(conv, (runs.get(conv) ?? 0) + 1);
        if (Math.min(...runs.values()) === 1) inside.resolve();
        await killed;
        await tx.store({ newMessages: [messageFacts({ conv, seq: (before?.headSeq ?? 0) + 1 })] });
      }),
    );
    await Promise.all(posting);
    expect([...runs.values()]).toEqual(convs.map(() => 2));
    expect(retries).toEqual(convs.map(() => 'away'));
    expect([...(await truth.heads(convs)).values()]).toEqual(convs.map(() => ({ headSeq: 1, countable: 1 })));
  });

  test('a clock that is set forward by hours takes nobody’s patience away', async () => {
    let aheadMs = 0;
    const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs };
    const set = await openTruthAt(url, { clock });
    onTestFinished(() => set.close());
    let runs = 0;
    await set.transact(async (tx) => {
      if (++runs === 1) await killConnections();
      aheadMs += 5 * 3_600_000;
      await tx.store({ conversations: [conversationFacts({ conv: freshName('conv') })] });
    });
    expect(runs).toBe(2);
  });
});

describe('a commit whose answer is lost', () => {
  const isCommit = (request: Buffer): boolean => request.subarray(5).equals(Buffer.from('COMMIT'));

  test('[OR2][DT3] is not run again by itself; who asks again learns by message_id and event_id that it happened', async () => {
    const bench = openServiceBench({ truth: () => truth });
    const conv = freshName('conv');
    const eventId = freshName('event');
    await bench.accept({ type: 'conversation.created', conv, members: ['ann', 'bob'] });
    const message = { type: 'message.created', conv, message_id: 'm1', sender: 'ann' };
    const left = { type: 'member.left', conv, users: ['bob'], event_id: eventId };

    const before = proxy.lost;
    proxy.loseAnswerTo(isCommit);
    await expect(bench.services.post.post([message, left])).rejects.toThrow(Unavailable);
    expect(proxy.lost).toBe(before + 1);
    expect((await truth.heads([conv])).get(conv)?.headSeq).toBe(1);

    const again = await bench.services.post.post([message, left]);
    expect(again).toEqual([
      { ok: true, seq: 1, duplicate: true },
      { ok: true, duplicate: true },
    ]);
    expect((await truth.heads([conv])).get(conv)).toEqual({ headSeq: 1, countable: 1 });
    expect((await truth.rows([{ conv, user: 'bob' }]))[0]?.membership).toMatchObject({ member: false, rev: 2 });
  });

  test('[AK1] an ack that is sent again is stale, and its effect is there', async () => {
    const bench = openServiceBench({ truth: () => truth });
    const conv = freshName('conv');
    await bench.accept({ type: 'conversation.created', conv, members: ['ann', 'bob'] });
    await bench.say(conv, 'bob', ['m1', 'm2', 'm3']);
    proxy.loseAnswerTo(isCommit);
    await expect(bench.services.commands.ack('ann', [{ conv, seq: 2 }])).rejects.toThrow(Unavailable);
    const { items } = await bench.services.commands.ack('ann', [{ conv, seq: 2 }]);
    expect(items).toEqual([{ conv, status: 'stale', read_seq: 2, unread: 1 }]);
  });
});

describe('a server that is slow or does not answer at all', () => {
  test.each([
    ['2 s in each direction', (isHindered: boolean) => (proxy.delayMs = isHindered ? SLOWER * 2_000 : 0)],
    ['takes bytes and says nothing', (isHindered: boolean) => (proxy.isStalled = isHindered)],
  ])('%s: every call says Unavailable in time, also those that wait behind one', async (_, hinder) => {
    const conv = freshName('conv');
    const bench = openServiceBench({ truth: () => truth });
    await bench.accept({ type: 'conversation.created', conv, members: ['ann'] });
    hinder(true);
    onTestFinished(() => void hinder(false));
    const message = (id: number): object => {
      return { type: 'message.created', conv, message_id: `m${id}`, sender: 'ann' };
    };
    const calls = [
      truth.ping(),
      truth.rowsOfUser('ann'),
      bench.services.post.post([message(1)]),
      // The next one gathers behind the batch that is on its way.
      sleep(50).then(async () => bench.services.post.post([message(2)])),
      ...Array.from({ length: 40 }, async (_call, n) => truth.membersOf(`${conv}-${n}`)),
    ];
    const outcomes = await Promise.race([Promise.allSettled(calls), sleep(ANSWERED_MS, null)]);
    expect(outcomes).not.toBeNull();
    for (const outcome of outcomes ?? []) {
      expect(outcome.status === 'rejected' && outcome.reason instanceof Unavailable).toBe(true);
    }
    hinder(false);
    await untilAnswers(truth);
    expect(await bench.services.post.post([message(3)])).toMatchObject([{ ok: true }]);
  });
});

test('work that goes on, answer by answer, is not broken off, however long it takes in all', async () => {
  const conv = freshName('conv');
  await post(truth, conv, 'before');
  proxy.delayMs = 100;
  onTestFinished(() => void (proxy.delayMs = 0));
  const sinceMs = performance.now();
  await truth.transact(async (tx) => {
    for (let n = 0; n < 28; n++) await tx.load({ conversations: [conv], lockConversations: true });
    await tx.store({ conversations: [conversationFacts({ conv, rev: 9 })] });
  });
  // Longer than a call may go without an answer.
  expect(performance.now() - sinceMs).toBeGreaterThan(SLOWER * 2_500);
  proxy.delayMs = 0;
  expect((await truth.revsOf([conv])).get(conv)).toBe(9);
});

test('a server that is not there is said to be away after a moment, and is used again as soon as it is back', async () => {
  await server.kill();
  await expect(post(truth, freshName('conv'), 'm')).rejects.toThrow(Unavailable);
  await expect(truth.ping()).rejects.toThrow(Unavailable);
  await server.start();
  await untilAnswers(truth);
  expect(await post(truth, freshName('conv'), 'm')).toBe(1);
});

describe('a restart of the server', () => {
  test('[OR1] under load: what was answered is there, what was not can be sent again, and no seq is given out twice', async () => {
    const convs = Array.from({ length: 5 }, () => freshName('conv'));
    const answered = new Map<string, number>();
    let unavailable = 0;
    let isOver = false;
    const writers = convs.map(async (conv) => {
      for (let n = 1; !isOver; n++) {
        // The same id again and again until there is an answer, as a message service does.
        for (let seq: number | null = null; seq === null && !isOver;) {
          seq = await post(truth, conv, `m${n}`).catch((error: unknown) => {
            if (!(error instanceof Unavailable)) throw error;
            unavailable++;
            return null;
          });
          if (seq !== null) answered.set(`${conv} m${n}`, seq);
          else await sleep(20);
        }
      }
    });
    for (let restart = 0; restart < 2; restart++) {
      await until(() => answered.size > 100 * (restart + 1));
      await server.kill();
      await sleep(200);
      await server.start();
      const before = answered.size;
      await until(() => answered.size > before + 20);
    }
    isOver = true;
    await Promise.all(writers);
    expect(unavailable + retries.length).toBeGreaterThan(0);
    const stored = await storedSeqs(convs);
    for (const [message, seq] of answered) expect(stored.get(message)).toBe(seq);
    for (const [conv, { headSeq, countable }] of await truth.heads(convs)) {
      expect([conv, countable]).toEqual([conv, headSeq]);
    }
  });
});

/** Gives out the next seq to a message that has none yet. */
async function post(on: Truth, conv: string, messageId: string): Promise<number> {
  return on.transact(async (tx) => {
    const facts = await tx.load({
      conversations: [conv],
      lockConversations: true,
      messagesById: [{ conv, messageId }],
    });
    const known = facts.messageById(conv, messageId);
    if (known !== null) return known.seq;
    const seq = (facts.conversation(conv)?.headSeq ?? 0) + 1;
    await tx.store({
      conversations: [conversationFacts({ conv, headSeq: seq, headOrd: seq, rev: seq })],
      newMessages: [messageFacts({ conv, seq, messageId })],
    });
    return seq;
  });
}

async function storedSeqs(convs: readonly string[]): Promise<Map<string, number>> {
  const connection = await createConnection(url);
  const [rows] = await connection.query('SELECT conv, message_id, seq FROM messages WHERE conv IN (?)', [convs]);
  await connection.end();
  const stored = rows as { conv: Buffer; message_id: Buffer; seq: number }[];
  return new Map(stored.map(({ conv, message_id: id, seq }) => [`${conv.toString()} ${id.toString()}`, seq]));
}

/** All but the one that does it. */
async function killConnections(): Promise<void> {
  const connection = await createConnection(url);
  const [rows] = await connection.query(
    'SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()',
  );
  for (const { id } of rows as { id: number }[]) await connection.query(`KILL ${id}`);
  await connection.end();
}

async function untilAnswers(on: Truth): Promise<void> {
  await until(async () =>
    on.ping().then(
      () => true,
      () => false,
    ),
  );
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + BACK_MS;
  while (!(await isSo())) {
    if (performance.now() > untilMs) throw new Error('what was waited for did not come');
    await sleep(20);
  }
}
