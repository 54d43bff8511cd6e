import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_KEY, type RunningApp, startApp } from '../support/running-app.ts';

/** Every way in which a caller can be wrong, with the code, the field and the status that it is told. */
let running: RunningApp;
beforeAll(async () => {
  running = await startApp();
  await running.post({ type: 'conversation.created', conv: 'c1', members: ['u1', 'u2'] });
  await running.post({ type: 'message.created', conv: 'c1', message_id: 'm1', sender: 'u2' });
});
afterAll(() => running.stop());

const LONG_ID = 'x'.repeat(129);
const ids = (count: number): string[] => Array.from({ length: count }, (_, i) => `u${i}`);
const ackItems = (count: number): object[] => ids(count).map((conv) => ({ conv, seq: 1 }));

describe('who calls', () => {
  const ROUTES = [
    ['POST', '/v1/events'],
    ['GET', '/v1/users/u1/unread'],
    ['POST', '/v1/unread:batchGet'],
    ['POST', '/v1/users/u1/unread:batchGet'],
    ['POST', '/v1/conversations:check'],
    ['POST', '/v1/users/u1/disconnect'],
    ['POST', '/v1/users/u1/read'],
    ['POST', '/v1/users/u1/read_all'],
    ['POST', '/v1/users/u1/conversations/c1/mark'],
    ['PUT', '/v1/users/u1/conversations/c1/prefs'],
    ['DELETE', '/v1/users/u1/conversations/c1'],
    ['GET', '/v1/users/u1/conversations/c1/explain'],
    ['POST', '/v1/reconcile'],
    ['GET', '/metrics'],
  ] as const;

  test.each(ROUTES)('%s %s takes no one without the API key', async (method, path) => {
    const token = await running.asUser('u1');
    const headers = ['', 'Bearer wrong', `Bearer ${'k'.repeat(31)}`, `Basic ${'k'.repeat(32)}`, token.authorization];
    for (const authorization of headers) {
      const answer = await running.call(method, path, undefined, { authorization });
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      const message = authorization.startsWith('Bearer') ? 'the API key is not valid' : 'an API key is needed';
      expect(answer.body).toEqual({ error: { code: 'unauthorized', message } });
    }
  });

  test('the key is taken from the header alone', async () => {
    const answer = await running.call('GET', `/v1/users/u1/unread?api_key=${'k'.repeat(32)}`, undefined, {
      authorization: '',
    });
    expect(answer.status).toBe(401);
  });

  test('GET /v1/sync takes no one without a user token', async () => {
    const expected = [
      ['', 'a user token is needed'],
      [`Bearer ${'k'.repeat(32)}`, /./],
      ['Bearer not.a.token', /./],
    ] as const;
    for (const [authorization, message] of expected) {
      const answer = await running.call('GET', '/v1/sync', undefined, { authorization });
      expect(answer.status).toBe(401);
      expect(answer.body).toEqual({ error: { code: 'unauthorized', message: expect.stringMatching(message) } });
    }
  });

  test('health is for everybody', async () => {
    for (const path of ['/healthz', '/readyz']) {
      expect((await running.call('GET', path, undefined, { authorization: '' })).status).toBe(200);
    }
  });
});

describe('where to', () => {
  test.each([
    ['GET', '/'],
    ['GET', '/v1'],
    ['GET', '/v1/users'],
    ['GET', '/v1/users//unread'],
    ['GET', '/v1/users/u1/unread/'],
    ['GET', '/v1/users/u1/unreadX'],
    ['POST', '/v1/unread'],
    ['GET', '/v2/sync'],
  ])('%s %s is no path', async (method, path) => {
    const answer = await running.call(method, path);
    expect(answer).toMatchObject({ status: 404, body: { error: { code: 'not_found', message: 'no such path' } } });
  });

  test.each([
    ['GET', '/v1/events', 'POST'],
    ['DELETE', '/v1/users/u1/unread', 'GET'],
    ['POST', '/v1/users/u1/conversations/c1', 'DELETE'],
    ['POST', '/v1/users/u1/conversations/c1/prefs', 'PUT'],
    ['POST', '/healthz', 'GET'],
    ['OPTIONS', '/v1/sync', 'GET'],
    ['PATCH', '/v1/reconcile', 'POST'],
  ])('%s %s is not the method', async (method, path, allow) => {
    const answer = await running.call(method, path);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow]);
    expect(answer.body).toEqual({ error: { code: 'method_not_allowed', message: `this path takes ${allow}` } });
  });

  test('a plain request where a socket is meant', async () => {
    const answer = await running.call('GET', '/v1/ws');
    expect([answer.status, answer.headers.get('upgrade')]).toEqual([426, 'websocket']);
    expect(answer.body).toMatchObject({ error: { code: 'invalid_field', field: 'upgrade' } });
  });

  test('an offer of another protocol than WebSocket is passed over, and the request answered', async () => {
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
    const headers = {
      authorization: `Bearer ${API_KEY}`,
      connection: 'Upgrade, HTTP2-Settings',
      upgrade: 'h2c',
      'http2-settings': 'AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA',
    };
    const asked = request(`${running.url}/v1/events`, { method: 'POST', headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.once('error', reject);
    asked.end('{"events":[]}');
    expect(await promise).toBe(200);
  });

  test.each(['%', '%zz', '%ff', '%e4%bd', 'a%'])('a faulty escape in the path: %s', async (id) => {
    for (const path of [`/v1/users/${id}/unread`, `/v1/users/u1/conversations/${id}/explain`]) {
      const answer = await running.call('GET', path);
      expect([answer.status, answer.body]).toEqual([
        400,
        { error: { code: 'invalid_field', message: 'the path has a faulty percent escape', field: 'path' } },
      ]);
    }
  });
});

describe('the body', () => {
  test.each([
    ['nothing', 'the body is not JSON'],
    ['{"events":[', 'the body is not JSON'],
    ['{"events":[]} x', 'the body is not JSON'],
    ["{'events':[]}", 'the body is not JSON'],
  ])('%s is no JSON', async (text, message) => {
    const answer = await running.call('POST', '/v1/events', text);
    expect([answer.status, answer.body]).toEqual([400, { error: { code: 'malformed_json', message } }]);
  });

  test('bytes that are no UTF-8 are refused, since two ids could become one', async () => {
    const response = await fetch(`${running.url}/v1/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${'k'.repeat(32)}` },
      body: Buffer.concat([Buffer.from('{"events":["'), Buffer.from([0xff]), Buffer.from('"]}')]),
    });
    expect([response.status, await response.json()]).toEqual([
      400,
      { error: { code: 'malformed_json', message: 'the body is not UTF-8' } },
    ]);
  });

  test('a packed body is refused by name', async () => {
    const answer = await running.call('POST', '/v1/events', '{"events":[]}', { 'content-encoding': 'gzip' });
    expect(answer).toMatchObject({
      status: 415,
      body: {
        error: { code: 'unsupported_encoding', message: expect.stringMatching(/gzip/), field: 'content-encoding' },
      },
    });
    expect(answer.headers.get('accept-encoding')).toBe('identity');
  });

  test('a body that says that it is not packed is taken, however that is spelled', async () => {
    const answer = await running.call('POST', '/v1/events', '{"events":[]}', { 'content-encoding': 'Identity' });
    expect(answer).toMatchObject({ status: 200, body: { results: [] } });
  });

  test('errors never repeat what was sent', async () => {
    const answer = await running.call('POST', '/v1/events', '{"planted": planted');
    expect(JSON.stringify(answer.body)).not.toContain('planted');
  });
});

describe('fields', () => {
  type Refusal = [
    method: string,
    path: string,
    body: unknown,
    field: string | undefined,
    message: RegExp,
    status?: number,
  ];
  const refusals: Refusal[] = [
    ['POST', '/v1/events', '[]', undefined, /^the body must be an object/],
    ['POST', '/v1/events', '"events"', undefined, /^the body must be an object/],
    ['POST', '/v1/events', 'null', undefined, /^the body must be an object/],
    ['POST', '/v1/events', '', 'events', /is missing/],
    ['POST', '/v1/events', {}, 'events', /is missing/],
    ['POST', '/v1/events', { events: null }, 'events', /must be a list/],
    ['POST', '/v1/events', { events: {} }, 'events', /must be a list/],
    ['POST', '/v1/events', { events: Array(501).fill(1) }, 'events', /at most 500 items, has 501/, 413],

    ['GET', `/v1/users/${LONG_ID}/unread`, undefined, 'user', /1 to 128 bytes/],
    ['GET', `/v1/users/${'%C3%A9'.repeat(65)}/unread`, undefined, 'user', /1 to 128 bytes/],
    ['GET', '/v1/users/u1/unread?limit=0', undefined, 'limit', /integer from 1/],
    ['GET', '/v1/users/u1/unread?limit=ten', undefined, 'limit', /integer from 1/],
    ['GET', '/v1/users/u1/unread?limit=', undefined, 'limit', /integer from 1/],
    ['GET', '/v1/users/u1/unread?limit=1e2', undefined, 'limit', /integer from 1/],
    ['GET', '/v1/users/u1/unread?cursor=', undefined, 'cursor', /must be/],
    ['GET', '/v1/users/u1/unread?cursor=zzz', undefined, 'cursor', /answered as next/],
    ['GET', `/v1/users/u1/unread?cursor=${'x'.repeat(600)}`, undefined, 'cursor', /512 bytes/],
    ['GET', '/v1/users/u1/unread?unread_only=perhaps', undefined, 'unread_only', /true or false/],

    ['POST', '/v1/unread:batchGet', {}, 'users', /is missing/],
    ['POST', '/v1/unread:batchGet', { users: 'u1' }, 'users', /must be a list/],
    ['POST', '/v1/unread:batchGet', { users: [7] }, 'users[0]', /not a number/],
    ['POST', '/v1/unread:batchGet', { users: ['u1', ''] }, 'users[1]', /1 to 128 bytes/],
    ['POST', '/v1/unread:batchGet', { users: ids(501) }, 'users', /at most 500/, 413],
    ['POST', '/v1/users/u1/unread:batchGet', { convs: [LONG_ID] }, 'convs[0]', /1 to 128 bytes/],
    ['POST', '/v1/users/u1/unread:batchGet', { convs: ids(1001) }, 'convs', /at most 1000/, 413],
    [`POST`, `/v1/users/${LONG_ID}/unread:batchGet`, { convs: [] }, 'user', /1 to 128 bytes/],
    ['POST', '/v1/conversations:check', { items: [{ conv: 'c1', head_seq: 1 }] }, 'items[0].countable', /is missing/],
    [
      'POST',
      '/v1/conversations:check',
      { items: [{ conv: 'c1', head_seq: -1, countable: 0 }] },
      'items[0].head_seq',
      /integer/,
    ],
    ['POST', '/v1/conversations:check', { items: ackItems(1001) }, 'items', /at most 1000/, 413],

    ['POST', `/v1/users/${LONG_ID}/read`, { items: [] }, 'user', /1 to 128 bytes/],
    ['POST', '/v1/users/u1/read', {}, 'items', /is missing/],
    ['POST', '/v1/users/u1/read', { items: 'x' }, 'items', /must be a list/],
    ['POST', '/v1/users/u1/read', { items: [{ seq: 1 }] }, 'items[0].conv', /is missing/],
    [
      'POST',
      '/v1/users/u1/read',
      { items: [{ conv: 'c1' }] },
      'items[0].seq',
      /^items\[0\]\.seq is missing: exactly one of seq, message_id/,
    ],
    [
      'POST',
      '/v1/users/u1/read',
      { items: [{ conv: 'c1', seq: 1, message_id: 'm1' }] },
      'items[0].message_id',
      /exactly one/,
    ],
    ['POST', '/v1/users/u1/read', { items: [{ conv: 'c1', seq: '1' }] }, 'items[0].seq', /must be an integer/],
    ['POST', '/v1/users/u1/read', { items: [{ conv: 'c1', seq: 1.5 }] }, 'items[0].seq', /must be an integer/],
    ['POST', '/v1/users/u1/read', { items: [{ conv: 'c1', seq: -1 }] }, 'items[0].seq', /must be an integer/],
    ['POST', '/v1/users/u1/read', '{"items":[{"conv":"c1","seq":9007199254740993}]}', 'items[0].seq', /2\^53-1/],
    ['POST', '/v1/users/u1/read', { items: [{ conv: 7, seq: 1 }] }, 'items[0].conv', /not a number/],
    [
      'POST',
      '/v1/users/u1/read',
      { items: [{ conv: 'c1', seq: 1, read_epoch: 'x' }] },
      'items[0].read_epoch',
      /integer/,
    ],
    ['POST', '/v1/users/u1/read', { items: ackItems(201) }, 'items', /at most 200/, 413],
    ['POST', '/v1/users/u1/read_all', { sync_version: 'x' }, 'sync_version', /must be an integer/],
    ['POST', '/v1/users/u1/read_all', { epoch: 7, sync_version: 1 }, 'epoch', /not a number/],
    ['POST', '/v1/users/u1/conversations/c1/mark', { from_seq: -2 }, 'from_seq', /must be an integer/],
    ['POST', `/v1/users/u1/conversations/${LONG_ID}/mark`, {}, 'conv', /1 to 128 bytes/],
    ['PUT', '/v1/users/u1/conversations/c1/prefs', {}, 'muted', /^muted is missing: at least one of muted, hidden/],
    ['PUT', '/v1/users/u1/conversations/c1/prefs', { muted: 'yes' }, 'muted', /true or false/],
    ['PUT', '/v1/users/u1/conversations/c1/prefs', { hidden: null }, 'hidden', /true or false/],
    ['DELETE', '/v1/users/u1/conversations/c1?up_to_seq=abc', undefined, 'up_to_seq', /must be an integer/],
    ['DELETE', '/v1/users/u1/conversations/c1?up_to_seq=', undefined, 'up_to_seq', /must be an integer/],
    ['DELETE', '/v1/users/u1/conversations/c1?up_to_seq=-1', undefined, 'up_to_seq', /must be an integer/],
    ['DELETE', `/v1/users/u1/conversations/${LONG_ID}`, undefined, 'conv', /1 to 128 bytes/],

    ['POST', '/v1/reconcile', { users: 5 }, 'users', /must be a list/],
    ['POST', '/v1/reconcile', { users: ids(1001) }, 'users', /at most 1000/, 413],
    ['POST', '/v1/reconcile', { repair: 'yes' }, 'repair', /true or false/],
    ['POST', '/v1/users/u1/disconnect', { device: '' }, 'device', /1 to 128 bytes/],
    ['GET', `/v1/users/u1/conversations/${LONG_ID}/explain`, undefined, 'conv', /1 to 128 bytes/],
  ];

  test.each(refusals)('%s %s %j names %s', async (method, path, body, field, message, status = 400) => {
    const answer = await running.call(method, path, body);
    const code = status === 413 ? 'too_large' : 'invalid_field';
    const error = { code, message: expect.stringMatching(message), ...(field === undefined ? {} : { field }) };
    expect([answer.status, answer.body]).toEqual([status, { error }]);
  });

  test('a command on a conversation that the user is not in is refused', async () => {
    const commands = [
      ['POST', '/v1/users/u1/conversations/nowhere/mark', {}],
      ['PUT', '/v1/users/u1/conversations/nowhere/prefs', { muted: true }],
      ['DELETE', '/v1/users/u1/conversations/nowhere', undefined],
      ['GET', '/v1/users/u1/conversations/nowhere/explain', undefined],
      ['POST', '/v1/users/u3/conversations/c1/mark', {}],
      ['PUT', '/v1/users/u3/conversations/c1/prefs', { muted: true }],
      ['DELETE', '/v1/users/u3/conversations/c1', undefined],
      ['GET', '/v1/users/u3/conversations/c1/explain', undefined],
    ] as const;
    for (const [method, path, body] of commands) {
      const answer = await running.call(method, path, body);
      const error = {
        code: 'unknown_conversation',
        message: 'the user is not a member of this conversation',
        field: 'conv',
      };
      expect([answer.status, answer.body]).toEqual([404, { error }]);
    }
  });

  test('after all that, nothing has changed', async () => {
    const { body } = await running.call('GET', '/v1/users/u1/unread');
    expect(body).toMatchObject({ sync_version: 1, total: 1, rows: [{ conv: 'c1', unread: 1, read_seq: 0 }] });
  });
});
