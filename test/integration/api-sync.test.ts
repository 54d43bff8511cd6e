import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addDigest, formatDigest, rowDigest } from '../../protocol/index.ts';
import type { Row } from '../../protocol/index.ts';
import { type Answer, type RunningApp, startApp } from '../support/running-app.ts';

const PAGE = 'http://chat.example';

let running: RunningApp;
beforeAll(async () => {
  running = await startApp({
    TIDEMARK_ALLOWED_ORIGINS: `${PAGE} http://other.example`,
    TIDEMARK_PULLS_PER_SECOND_MAX: '1000',
  });
});
afterAll(() => running.stop());

let round = 0;
let user: string;
let convs: string[];
beforeEach(async () => {
  round++;
  user = `user${round}`;
  convs = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}${round}`);
  await running.post(
    ...convs.map((conv) => ({ type: 'conversation.created', conv, members: [user, 'bob'] })),
    ...convs.map((conv) => ({ type: 'message.created', conv, message_id: conv, sender: 'bob' })),
  );
});

async function pull(
  query: Record<string, string | number> = {},
  headers: Record<string, string> = {},
): Promise<Answer> {
  const parameters = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
  return running.call('GET', `/v1/sync?${parameters}`, undefined, { ...(await running.asUser(user)), ...headers });
}

async function pulled(query: Record<string, string | number> = {}): Promise<Record<string, unknown>> {
  const { status, body } = await pull(query);
  expect(status).toBe(200);
  return body;
}

const cursorOf = ({ epoch, sync_version }: Record<string, unknown>) => ({
  epoch: epoch as string,
  sync_version: sync_version as number,
});
const rowsOf = (body: Record<string, unknown>): Row[] => body['rows'] as Row[];
const namesOf = (body: Record<string, unknown>): string[] => rowsOf(body).map(({ conv }) => conv);
const digestOf = (rows: Row[]): string => formatDigest(rows.reduce((sum, row) => addDigest(sum, rowDigest(row)), 0));

async function settled(total: number): Promise<void> {
  await expect.poll(async () => (await running.call('GET', `/v1/users/${user}/unread`)).body['total']).toBe(total);
}

describe('GET /v1/sync', () => {
  test('[SY2][SY7] without a cursor: a snapshot whose sums and digest are those of its rows', async () => {
    const body = await pulled();
    expect(body).toMatchObject({ mode: 'snapshot', reason: 'first', sync_version: 1, total: 5, badge: 5, mentions: 0 });
    expect(namesOf(body)).toEqual(convs.toReversed());
    expect(body['digest']).toBe(digestOf(rowsOf(body)));
    expect(body['expires_at']).toBeGreaterThan(Date.now());
    expect(body).not.toHaveProperty('next');
    expect(body).not.toHaveProperty('t');
  });

  test('[SY2] at the version: noop, with an ETag, and 304 to whoever knows it', async () => {
    const cursor = cursorOf(await pulled());
    const first = await pull(cursor);
    expect(first).toMatchObject({ status: 200, body: { mode: 'noop', total: 5, rows: [] } });
    const tag = first.headers.get('etag') ?? '';
    expect(tag).toBe(`W/"${cursor.epoch}.${cursor.sync_version}"`);
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    for (const known of [tag, tag.slice(2), `"x", ${tag}`, '*']) {
      const again = await pull(cursor, { 'if-none-match': known });
      expect([again.status, again.headers.get('etag'), again.body]).toEqual([304, tag, {}]);
    }
    expect((await pull(cursor, { 'if-none-match': '"x", W/"y"' })).status).toBe(200);
  });

  test('[SY2][SY3] behind: what changed since, tombstones included, whatever the ETag', async () => {
    const first = await pull();
    const cursor = cursorOf(first.body);
    await running.post({ type: 'message.created', conv: convs[0], message_id: 'new', sender: 'bob', mentions: [user] });
    await running.post({ type: 'member.left', conv: convs[1], users: [user] });
    await settled(5);
    const { status, body } = await pull(cursor, { 'if-none-match': first.headers.get('etag') ?? '' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ mode: 'delta', epoch: cursor.epoch, total: 5, mentions: 1 });
    expect(body).not.toHaveProperty('reason');
    expect(rowsOf(body)).toMatchObject([
      { conv: convs[0], unread: 2, mentions: 1 },
      { conv: convs[1], gone: true },
    ]);
    expect(await pulled(cursorOf(body))).toMatchObject({ mode: 'noop' });
  });

  test('[SY2] a cursor that cannot be gone on from gets a snapshot and the reason', async () => {
    const { epoch, sync_version } = cursorOf(await pulled());
    expect(await pulled({ epoch, sync_version: sync_version + 1000 })).toMatchObject({
      mode: 'snapshot',
      reason: 'ahead',
    });
    expect(await pulled({ epoch: 'elsewhere', sync_version })).toMatchObject({ mode: 'snapshot', reason: 'epoch' });
    expect(await pulled({ epoch, sync_version: 0 })).toMatchObject({ mode: 'snapshot', reason: 'floor', total: 5 });
  });

  test('[SY7] a digest that differs at the same version is repaired by a snapshot, the second time under a new epoch', async () => {
    const first = await pulled();
    const at = { ...cursorOf(first), digest: 'abcdefabcdef' };
    expect(await pulled({ ...at, digest: first['digest'] as string })).toMatchObject({ mode: 'noop' });
    expect(await pulled(at)).toMatchObject({ mode: 'snapshot', reason: 'digest', epoch: at.epoch, total: 5 });
    const rebuilt = await pulled(at);
    expect(rebuilt).toMatchObject({ mode: 'snapshot', reason: 'digest', total: 5 });
    expect(rebuilt['epoch']).not.toBe(at.epoch);
    const metrics = await running.call('GET', '/metrics');
    expect(metrics.body['text']).toMatch(/^tidemark_divergence_total [1-9]/m);
  });

  test('[SY6] pages by next: each row once, newest first, all at the version of the first', async () => {
    const seen: string[] = [];
    let page = await pulled({ max_rows: 2 });
    const head = { ...cursorOf(page), total: 5, badge: 5, mentions: 0, digest: page['digest'] };
    for (;;) {
      expect(page).toMatchObject({ mode: 'snapshot', ...head });
      seen.push(...namesOf(page));
      if (page['next'] === undefined) break;
      page = await pulled({ page: page['next'] as string, max_rows: 2 });
    }
    expect(seen).toEqual(convs.toReversed());
  });

  test('[SY6] more rows than a page can have are no fault, as in hello', async () => {
    for (const max_rows of [201, Number.MAX_SAFE_INTEGER]) {
      const page = await pulled({ max_rows });
      expect(namesOf(page)).toEqual(convs.toReversed());
      expect(page).not.toHaveProperty('next');
    }
  });

  test('[SY6] what changes between two pages is left out of them and is the delta of the next question', async () => {
    const first = await pulled({ max_rows: 2 });
    await running.post({ type: 'message.created', conv: convs[0], message_id: 'new', sender: 'bob' });
    await running.post({ type: 'member.left', conv: convs[4], users: [user] });
    await settled(5);
    const second = await pulled({ page: first['next'] as string, max_rows: 100 });
    expect(second).toMatchObject({ mode: 'snapshot', ...cursorOf(first), total: 5, digest: first['digest'] });
    const delta = await pulled(cursorOf(first));
    expect(delta).toMatchObject({ mode: 'delta', total: 5 });
    // The device's own sum over all that it was sent is the server's.
    const held = new Map([...rowsOf(first), ...rowsOf(second), ...rowsOf(delta)].map((row) => [row.conv, row]));
    const listed = [...held.values()].filter((row) => row.gone !== true);
    expect(listed.reduce((sum, row) => sum + row.unread, 0)).toBe(5);
    expect(digestOf(listed)).toBe(delta['digest']);
  });

  test('[DT5] a page token that nobody knows starts the snapshot anew', async () => {
    for (const page of ['x', '1.a.b.c', 'x'.repeat(512)]) {
      expect(await pulled({ page })).toMatchObject({ mode: 'snapshot', reason: 'first', total: 5 });
    }
  });

  test.each([
    [{ epoch: 'e' }, 'sync_version'],
    [{ sync_version: 1 }, 'epoch'],
    [{ epoch: '', sync_version: 1 }, 'epoch'],
    [{ epoch: 'e', sync_version: 'x' }, 'sync_version'],
    [{ epoch: 'e', sync_version: '-1' }, 'sync_version'],
    [{ epoch: 'e', sync_version: '9007199254740992' }, 'sync_version'],
    [{ epoch: 'e', sync_version: 1, digest: 'ABCDEFABCDEF' }, 'digest'],
    [{ page: '' }, 'page'],
    [{ page: 'x'.repeat(513) }, 'page'],
    [{ max_rows: 0 }, 'max_rows'],
  ] as Record<string, string | number>[][])('%j is refused by name', async (query, field) => {
    const answer = await pull(query);
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'invalid_field', field } } });
  });

  test('nobody sees more than what is their own', async () => {
    const answer = await running.call('GET', '/v1/sync?user=user1', undefined, await running.asUser('a stranger'));
    expect(answer).toMatchObject({ status: 200, body: { total: 0, rows: [] } });
  });

  test('an expired token says so', async () => {
    const answer = await pull({}, await running.asUser(user, -1000));
    expect(answer).toMatchObject({
      status: 401,
      body: { error: { code: 'unauthorized', message: 'the token has expired' } },
    });
  });
});

describe('pages of other origins', () => {
  test('may pull if they are listed, word for word', async () => {
    const allowed = await pull({}, { origin: PAGE });
    expect(allowed.headers.get('access-control-allow-origin')).toBe(PAGE);
    expect(allowed.headers.get('access-control-expose-headers')).toBe('etag, retry-after');
    expect(allowed.headers.get('vary')).toBe('authorization, origin');
    for (const origin of ['http://chat.example.evil', 'https://chat.example', 'http://chat.example:81', 'null']) {
      expect((await pull({}, { origin })).headers.get('access-control-allow-origin')).toBeNull();
    }
  });

  test('are told why they are refused', async () => {
    const answer = await pull({}, { origin: PAGE, authorization: 'Bearer x' });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([401, PAGE]);
  });

  test('may ask beforehand, for this path alone', async () => {
    const asks = {
      origin: PAGE,
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'authorization',
    };
    const answer = await running.call('OPTIONS', '/v1/sync', undefined, asks);
    expect(answer.status).toBe(204);
    expect(answer.headers.get('access-control-allow-origin')).toBe(PAGE);
    expect(answer.headers.get('access-control-allow-headers')).toContain('authorization');
    expect(
      (await running.call('OPTIONS', '/v1/sync', undefined, { ...asks, origin: 'http://evil.example' })).status,
    ).toBe(405);
    expect((await running.call('OPTIONS', '/v1/users/u1/unread', undefined, asks)).status).toBe(405);
  });
});
