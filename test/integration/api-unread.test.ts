import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningApp, startApp } from '../support/running-app.ts';

const CONVS = Array.from({ length: 25 }, (_, n) => `c${n + 1}`);

let running: RunningApp;
beforeAll(async () => {
  running = await startApp();
  await running.post(
    ...CONVS.map((conv) => ({ type: 'conversation.created', conv, members: ['u1', 'u2'] })),
    // The later, the more: c1 one message, c2 two …; every fifth has none that counts for u1.
    ...CONVS.flatMap((conv, n) =>
      Array.from({ length: n + 1 }, (_, m) => ({
        type: 'message.created',
        conv,
        message_id: `${conv}-${m}`,
        sender: (n + 1) % 5 === 0 ? 'u1' : 'u2',
      })),
    ),
  );
});
afterAll(() => running.stop());

const TOTAL = CONVS.map((_, n) => ((n + 1) % 5 === 0 ? 0 : n + 1)).reduce((a, b) => a + b);

async function pages(query: string): Promise<Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = [];
  let next: unknown;
  do {
    const more: string = typeof next === 'string' ? `&cursor=${encodeURIComponent(next)}` : '';
    const { status, body } = await running.call('GET', `/v1/users/u1/unread?${query}${more}`);
    expect(status).toBe(200);
    all.push(body);
    next = body['next'];
  } while (next !== undefined);
  return all;
}

const convsOf = (bodies: Record<string, unknown>[]): string[] =>
  bodies.flatMap((body) => (body['rows'] as { conv: string }[]).map(({ conv }) => conv));

describe('GET …/unread', () => {
  test('[CN3][DT7] newest first, with the totals of all rows and nothing else', async () => {
    const [body] = await pages('');
    expect(Object.keys(body ?? {}).toSorted()).toEqual(
      ['badge', 'digest', 'epoch', 'mentions', 'rows', 'sync_version', 'total'].toSorted(),
    );
    expect(body).toMatchObject({
      total: TOTAL,
      badge: TOTAL,
      mentions: 0,
      digest: expect.stringMatching(/^[0-9a-f]{12}$/),
    });
    expect(convsOf([body ?? {}])).toEqual(CONVS.toReversed());
    const [first] = body!['rows'] as object[];
    expect(first).toEqual({
      conv: 'c25',
      version: expect.any(Number),
      unread: 0,
      mentions: 0,
      read_seq: 0,
      read_epoch: 0,
      head_seq: 25,
    });
  });

  test('[DT7] pages hold each row once and all carry the same totals', async () => {
    for (const limit of [1, 7, 24, 25, 1000, 1001, Number.MAX_SAFE_INTEGER]) {
      const all = await pages(`limit=${limit}`);
      expect(convsOf(all)).toEqual(CONVS.toReversed());
      expect(all).toHaveLength(Math.ceil(25 / limit));
      expect(new Set(all.map(({ total, sync_version }) => `${String(total)} ${String(sync_version)}`)).size).toBe(1);
    }
  });

  test('[DT7] unread_only leaves out rows, not totals', async () => {
    const all = await pages('unread_only=true&limit=10');
    expect(convsOf(all)).toEqual(CONVS.filter((_, n) => (n + 1) % 5 !== 0).toReversed());
    expect(all.map(({ total }) => total)).toEqual([TOTAL, TOTAL]);
  });

  test('[CN1] a user of whom nothing is known has nothing unread', async () => {
    expect((await running.call('GET', '/v1/users/nobody/unread')).body).toMatchObject({
      total: 0,
      digest: '000000000000',
      rows: [],
    });
  });
});

describe('batches', () => {
  test('[CN3] totals of many users, in the order asked, doubles included', async () => {
    const { status, body } = await running.call('POST', '/v1/unread:batchGet', { users: ['u2', 'nobody', 'u1', 'u1'] });
    const u1 = { user: 'u1', total: TOTAL, badge: TOTAL, mentions: 0, sync_version: 1 };
    const u2 = { ...u1, user: 'u2', total: 75, badge: 75 };
    expect([status, body]).toEqual([200, { users: [u2, { ...u1, user: 'nobody', total: 0, badge: 0 }, u1, u1] }]);
    expect((await running.call('POST', '/v1/unread:batchGet', { users: [] })).body).toEqual({ users: [] });
  });

  test('rows of some conversations, without those that the user does not have', async () => {
    const { status, body } = await running.call('POST', '/v1/users/u1/unread:batchGet', {
      convs: ['c3', 'nowhere', 'c1', 'c3'],
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ epoch: expect.any(String), sync_version: 1 });
    expect(body['rows']).toMatchObject([
      { conv: 'c3', unread: 3 },
      { conv: 'c1', unread: 1 },
    ]);
  });

  test('check names the conversations that differ from what the caller believes', async () => {
    const items = [
      { conv: 'c3', head_seq: 3, countable: 3 },
      { conv: 'c4', head_seq: 5, countable: 5 },
      { conv: 'lost', head_seq: 1, countable: 1 },
    ];
    const { status, body } = await running.call('POST', '/v1/conversations:check', { items });
    expect([status, body]).toEqual([
      200,
      {
        differ: [
          { conv: 'c4', known: true, head_seq: 4, countable: 4 },
          { conv: 'lost', known: false, head_seq: 0, countable: 0 },
        ],
      },
    ]);
  });
});
