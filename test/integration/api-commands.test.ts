import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createMemoryState } from '../../src/state/memory.ts';
import { systemClock } from '../../src/system.ts';
import { LossyState } from '../support/lossy-state.ts';
import { type RunningApp, startApp } from '../support/running-app.ts';

let running: RunningApp;
beforeAll(async () => {
  running = await startApp();
});
afterAll(() => running.stop());

/** Two conversations with three messages each for a user of the test's own. */
let round = 0;
let user: string;
let c1: string;
let c2: string;
beforeEach(async () => {
  round++;
  [user, c1, c2] = [`user ${round}/ü`, `a/b ${round}?#%`, `c2-${round}`];
  await running.post(
    ...[c1, c2].flatMap((conv) => [
      { type: 'conversation.created', conv, members: [user, 'bob'] },
      ...[1, 2, 3].map((n) => ({ type: 'message.created', conv, message_id: `${conv}${n}`, sender: 'bob' })),
    ]),
  );
});

const at = (tail = ''): string => `/v1/users/${encodeURIComponent(user)}${tail}`;
const atConversation = (conv: string, tail = ''): string => at(`/conversations/${encodeURIComponent(conv)}${tail}`);

async function done(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const answer = await running.call(method, path, body);
  expect(answer.status).toBe(200);
  const { body: list } = await running.call('GET', at('/unread'));
  // The answer is the state that has the effect in it.
  for (const field of ['epoch', 'sync_version', 'total', 'badge', 'mentions', 'digest']) {
    expect([field, answer.body[field]]).toEqual([field, list[field]]);
  }
  return answer.body;
}

describe('commands over HTTP', () => {
  test('[AK1][AK2][AK3] read answers one status an item', async () => {
    const items = [
      { conv: c1, seq: 2 },
      { conv: c2, seq: 99 },
      { conv: 'nowhere', seq: 1 },
    ];
    expect(await done('POST', at('/read'), { items })).toMatchObject({
      items: [
        { conv: c1, status: 'applied', read_seq: 2, unread: 1 },
        { conv: c2, status: 'clamped', read_seq: 3, unread: 0 },
        { conv: 'nowhere', status: 'unknown' },
      ],
      total: 1,
    });
    expect(await done('POST', at('/read'), { items: [{ conv: c1, seq: 1 }] })).toMatchObject({
      items: [{ conv: c1, status: 'stale', read_seq: 2, unread: 1 }],
    });
  });

  test('[AK9] read may name the message', async () => {
    const items = [{ conv: c1, message_id: `${c1}3` }];
    expect(await done('POST', at('/read'), { items })).toMatchObject({
      items: [{ status: 'applied', read_seq: 3 }],
      total: 3,
    });
  });

  test('read of nothing is nothing', async () => {
    expect(await done('POST', at('/read'), { items: [] })).toMatchObject({ items: [], total: 6 });
  });

  test('[AK8] read_all without a version reads everything, with or without a body', async () => {
    expect(await done('POST', at('/read_all'))).toMatchObject({ total: 0 });
    await running.post({ type: 'message.created', conv: c1, message_id: `${c1}4`, sender: 'bob' });
    expect(await done('POST', at('/read_all'), {})).toMatchObject({ total: 0 });
  });

  test('[AK8] read_all at a version leaves what changed since, and names it', async () => {
    const { body: before } = await running.call('GET', at('/unread'));
    await running.post({ type: 'message.created', conv: c1, message_id: `${c1}4`, sender: 'bob' });
    await expect.poll(async () => (await running.call('GET', at('/unread'))).body['total']).toBe(7);
    const { epoch, sync_version } = before;
    expect(await done('POST', at('/read_all'), { epoch, sync_version })).toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ conv: c1, status: 'stale' })]),
      total: 4,
    });
  });

  test('[AK8] read_all at a foreign epoch is refused, and nothing moves', async () => {
    const answer = await running.call('POST', at('/read_all'), { epoch: 'other', sync_version: 1 });
    expect(answer).toMatchObject({ status: 409, body: { error: { code: 'stale_cursor' } } });
    expect((await running.call('GET', at('/unread'))).body).toMatchObject({ total: 6 });
  });

  test('[AK7] mark from a seq, and mark without one', async () => {
    await done('POST', at('/read_all'));
    expect(await done('POST', atConversation(c1, '/mark'), { from_seq: 2 })).toMatchObject({
      items: [{ conv: c1, status: 'applied', read_seq: 1, unread: 2 }],
      total: 2,
    });
    expect(await done('POST', atConversation(c2, '/mark'))).toMatchObject({ items: [{ conv: c2 }], total: 2 });
    const { body } = await running.call('GET', at('/unread?unread_only=true'));
    expect(body['rows']).toMatchObject([
      { conv: c2, marked: true, unread: 0 },
      { conv: c1, unread: 2 },
    ]);
  });

  test('a conversation in the body does not take the place of the one in the path', async () => {
    await done('POST', atConversation(c1, '/mark'), { from_seq: 3, conv: c2 });
    expect(await done('PUT', atConversation(c1, '/prefs'), { muted: true, conv: c2 })).toMatchObject({
      items: [{ conv: c1 }],
    });
  });

  test('[LC4][LC5] prefs mute and hide', async () => {
    expect(await done('PUT', atConversation(c1, '/prefs'), { muted: true })).toMatchObject({ total: 6, badge: 3 });
    expect(await done('PUT', atConversation(c1, '/prefs'), { hidden: true })).toMatchObject({ total: 3, badge: 3 });
    expect(await done('PUT', atConversation(c1, '/prefs'), { hidden: false, muted: false })).toMatchObject({
      total: 6,
      badge: 6,
    });
  });

  test('[LC3] clear up to a seq, and clear of all', async () => {
    expect(await done('DELETE', `${atConversation(c1)}?up_to_seq=2`)).toMatchObject({
      items: [{ conv: c1 }],
      total: 4,
    });
    expect(await done('DELETE', atConversation(c2))).toMatchObject({ items: [{ conv: c2 }], total: 1 });
  });
});

describe('a state that does not answer', () => {
  test('[DT8][AK4] the caller is told to come back; what it asked for is durable, and asked again it is answered', async () => {
    const state = new LossyState(createMemoryState({ clock: systemClock }));
    const slow = await startApp({}, { state });
    const events = [1, 2, 3].map((n) => ({ type: 'message.created', conv: 'c', message_id: `m${n}`, sender: 'bob' }));
    await slow.post({ type: 'conversation.created', conv: 'c', members: ['ann', 'bob'] }, ...events);
    state.away = true;
    const asked: [string, string, unknown][] = [
      ['POST', '/v1/users/ann/read', { items: [{ conv: 'c', seq: 2 }] }],
      ['PUT', '/v1/users/ann/conversations/c/prefs', { muted: true }],
      ['POST', '/v1/users/bob/conversations/c/mark', {}],
      ['POST', '/v1/users/ann/read_all', {}],
    ];
    const answers = await Promise.all(asked.map(([method, path, body]) => slow.call(method, path, body)));
    for (const { status, body } of answers) {
      expect(status).toBe(503);
      expect(body).toMatchObject({ error: { code: 'unavailable', retry_ms: expect.any(Number) as number } });
    }
    expect(await slow.app.services.explain.explain('ann', 'c')).toMatchObject({ floor: 2 });
    state.away = false;
    for (const [method, path, body] of asked) expect((await slow.call(method, path, body)).status).toBe(200);
    const { body } = await slow.call('GET', '/v1/users/ann/unread');
    expect(body).toMatchObject({ total: 0, rows: [{ conv: 'c', unread: 0, read_seq: 3, muted: true }] });
    await slow.stop();
  });
});
