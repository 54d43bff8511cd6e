import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningApp, startApp } from '../support/running-app.ts';

let running: RunningApp;
beforeAll(async () => {
  running = await startApp();
});
afterAll(() => running.stop());

async function results(...events: unknown[]): Promise<unknown> {
  const { status, body } = await running.call('POST', '/v1/events', { events });
  expect(status).toBe(200);
  return body['results'];
}

const unreadOf = async (user: string): Promise<Record<string, unknown>> =>
  (await running.call('GET', `/v1/users/${user}/unread`)).body;

describe('POST /v1/events', () => {
  test('answers one result an event, in order, and one bad event does not stop the others', async () => {
    const answers = await results(
      { type: 'conversation.created', conv: 'a', members: ['a1', 'a2'] },
      { type: 'message.created', conv: 'a', message_id: 'm1', sender: 'a2' },
      { type: 'message.sent', conv: 'a' },
      { type: 'message.created', conv: 'a', message_id: 7, sender: 'a2' },
      null,
      { type: 'message.created', conv: 'nowhere', message_id: 'm1', sender: 'a2' },
      { type: 'message.created', conv: 'a', message_id: 'm2', sender: 'a2', mentions: ['a1'] },
      { type: 'message.created', conv: 'a', message_id: 'm1', sender: 'a2' },
    );
    expect(answers).toEqual([
      { ok: true },
      { ok: true, seq: 1, duplicate: false },
      { ok: false, error: { code: 'unknown_event', message: expect.any(String), field: 'type' } },
      {
        ok: false,
        error: {
          code: 'invalid_field',
          message: expect.stringMatching(/message_id .* not a number/),
          field: 'message_id',
        },
      },
      { ok: false, error: { code: 'invalid_field', message: 'an event must be an object' } },
      { ok: false, error: { code: 'unknown_conversation', message: expect.any(String), field: 'conv' } },
      { ok: true, seq: 2, duplicate: false },
      { ok: true, seq: 1, duplicate: true },
    ]);
    expect(await unreadOf('a1')).toMatchObject({
      total: 2,
      mentions: 1,
      rows: [{ conv: 'a', unread: 2, mentions: 1 }],
    });
  });

  test('the eight kinds of events do what they say', async () => {
    await running.post(
      { type: 'message.created', conv: 'b', message_id: 'm1', sender: 'b2', members: ['b1', 'b2'] },
      { type: 'message.created', conv: 'b', message_id: 'm2', sender: 'b2', mentions: ['b1'] },
      { type: 'member.joined', conv: 'b', users: ['b3'] },
      { type: 'message.created', conv: 'b', message_id: 'm3', sender: 'b2', mention_all: true },
      { type: 'message.recalled', conv: 'b', message_id: 'm1' },
      { type: 'message.edited', conv: 'b', seq: 2, mentions: [] },
    );
    expect(await unreadOf('b1')).toMatchObject({ total: 2, mentions: 1 });
    expect(await unreadOf('b3')).toMatchObject({ total: 1, mentions: 1 });
    await running.post({ type: 'member.left', conv: 'b', users: ['b3'] });
    await running.post({ type: 'conversation.purged', conv: 'b', up_to_seq: 2 });
    expect(await unreadOf('b3')).toMatchObject({ total: 0, rows: [] });
    expect(await unreadOf('b1')).toMatchObject({ total: 1 });
    await running.post({ type: 'conversation.dissolved', conv: 'b' });
    expect(await unreadOf('b1')).toMatchObject({ total: 0, rows: [] });
  });

  test('[DT3] a retry with the same event_id changes nothing; the id of another event is a conflict', async () => {
    const event = { type: 'conversation.created', conv: 'd', members: ['d1'], event_id: 'e1' };
    expect(await results(event, event, { ...event, conv: 'd2' })).toEqual([
      { ok: true },
      { ok: true, duplicate: true },
      { ok: false, error: { code: 'event_id_conflict', message: expect.any(String), field: 'event_id' } },
    ]);
  });

  test('no events are no error', async () => {
    expect(await results()).toEqual([]);
  });

  test('500 events with the longest ids in the worst spelling, and a list of 10,000 users, fit into one body', async () => {
    // Every byte of an id as an escape of six letters: the largest form of JSON that means the same.
    const spelled = (id: string): string =>
      id.replaceAll(/./g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
    const id = (kind: string, n: number): string => spelled(`${kind}${n}`.padEnd(128, 'x'));
    const members = Array.from({ length: 10_000 }, (_, n) => `"${id('u', n)}"`).join();
    const messages = Array.from(
      { length: 499 },
      (_, n) =>
        `{"type":"message.created","conv":"${id('c', 0)}","message_id":"${id('m', n)}","sender":"${id('s', n)}","event_id":"${id('e', n)}"}`,
    );
    const first = `{"type":"conversation.created","conv":"${id('c', 0)}","members":[${members}]}`;
    const { status, body } = await running.call('POST', '/v1/events', `{"events":[${[first, ...messages].join()}]}`);
    expect(status).toBe(200);
    expect((body['results'] as { ok: boolean }[]).map(({ ok }) => ok)).toEqual(Array(500).fill(true));
  });

  test('the content type is not looked at, and UTF-8 with a mark of its own is fine', async () => {
    const text = JSON.stringify({ events: [{ type: 'conversation.created', conv: 'é😀', members: ['u'] }] });
    for (const [body, type] of [
      [text, 'text/plain'],
      [`\ufeff${text}`, 'application/x-www-form-urlencoded'],
    ] as const) {
      const answer = await running.call('POST', '/v1/events', body, { 'content-type': type });
      expect(answer).toMatchObject({ status: 200, body: { results: [{ ok: true }] } });
    }
    expect(await unreadOf('u')).toMatchObject({ rows: [{ conv: 'é😀' }] });
  });
});
