import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import WebSocket from 'ws';
import { createMemoryState } from '../../src/state/memory.ts';
import { createMemoryWakeup } from '../../src/state/memory-wakeup.ts';
import { systemClock } from '../../src/system.ts';
import { type RunningApp, startApp } from '../support/running-app.ts';

let running: RunningApp;
beforeAll(async () => {
  running = await startApp();
  const message = { type: 'message.created', conv: 'c1', sender: 'u2' };
  await running.post(
    { type: 'conversation.created', conv: 'c1', members: ['u1', 'u2'] },
    { ...message, message_id: 'm1' },
    { ...message, message_id: 'm2', sender: 'u1' },
    { ...message, message_id: 'm3', countable: false },
    { ...message, message_id: 'm4' },
    { ...message, message_id: 'm5', mentions: ['u1'] },
    { ...message, message_id: 'm6' },
    { type: 'message.recalled', conv: 'c1', message_id: 'm4' },
  );
});
afterAll(() => running.stop());

describe('explain', () => {
  const explained = async (): Promise<unknown> => {
    const { status, body } = await running.call('GET', '/v1/users/u1/conversations/c1/explain');
    expect(status).toBe(200);
    return body;
  };

  test('[CN1][DT7] says what counts, what was left out and why, and where the floor comes from', async () => {
    expect(await explained()).toEqual({
      conv: 'c1',
      user: 'u1',
      head: 6,
      floor: 0,
      floor_from: 'none',
      unread: 3,
      mentions: 1,
      counted: [1, 5, 6],
      left_out: { own: 1, not_countable: 1, recalled: 1, capped: 0 },
    });
    await running.call('POST', '/v1/users/u1/read', { items: [{ conv: 'c1', seq: 4 }] });
    expect(await explained()).toMatchObject({ floor: 4, floor_from: 'read', unread: 2, counted: [5, 6] });
    await running.call('DELETE', '/v1/users/u1/conversations/c1?up_to_seq=5');
    expect(await explained()).toMatchObject({ floor: 5, floor_from: 'clear', unread: 1, counted: [6] });
    await running.post({ type: 'conversation.purged', conv: 'c1', up_to_seq: 6 });
    expect(await explained()).toMatchObject({ floor: 6, floor_from: 'purge', unread: 0, counted: [] });
  });
});

describe('reconcile', () => {
  test('finds nothing wrong with what is right, and counts whom it looked at', async () => {
    const right = { wrong: 0, repaired: 0 };
    for (const body of [{ users: ['u1', 'u2'], repair: true }, { users: ['u1', 'u2'] }, {}]) {
      expect(await running.call('POST', '/v1/reconcile', body)).toMatchObject({
        status: 200,
        body: { checked: 2, ...right },
      });
    }
    expect((await running.call('POST', '/v1/reconcile')).body).toEqual({ checked: 2, ...right });
  });

  test('[CN1] what it finds wrong is counted by kind: a row of the state, or what truth says of its messages', async () => {
    const state = createMemoryState({ clock: systemClock });
    const watched = await startApp({}, { state });
    onTestFinished(() => watched.stop());
    const message = { type: 'message.created', conv: 'c', sender: 'bob', members: ['ann', 'bob'] };
    await watched.post(...['m1', 'm2'].map((message_id) => ({ ...message, message_id })), {
      ...message,
      conv: 'd',
      message_id: 'n1',
    });
    const drifted = async (): Promise<Record<string, number>> => {
      const { body } = await watched.call('GET', '/metrics');
      const lines = String(body['text']).matchAll(/^tidemark_drift_rows_total\{kind="(\w+)"\} (\d+)$/gm);
      return Object.fromEntries([...lines].map(([, kind, count]) => [kind, Number(count)]));
    };
    const reconcile = async (repair: boolean) =>
      (await watched.call('POST', '/v1/reconcile', { users: ['ann'], repair })).body;

    const { rows, epoch, syncVersion } = await watched.app.services.sync.view('ann');
    expect(await reconcile(false)).toMatchObject({ wrong: 0 });
    expect(await drifted()).toEqual({});
    const spoiled = rows.map((row) => ({ ...row, unread: 41 }));
    await state.apply([{ user: 'ann', op: 'merged', parts: [], rows: spoiled, repairAt: { epoch, syncVersion } }]);
    expect(await reconcile(true)).toEqual({ checked: 1, wrong: 1, repaired: 1 });
    expect(await drifted()).toEqual({ state: 2 });
    expect(await reconcile(true)).toMatchObject({ wrong: 0 });

    const file = new DatabaseSync(join(watched.dataDir, 'truth.sqlite'));
    // Of all rows, since a sample of them is counted.
    file.exec('DELETE FROM messages');
    file.close();
    expect(await reconcile(true)).toEqual({ checked: 1, wrong: 1, repaired: 0 });
    expect(await drifted()).toEqual({ state: 2, truth: 1 });
  });
});

describe('disconnect', () => {
  test('tells every node which user, and which device if one is named', async () => {
    const asked: unknown[] = [];
    const wakeup = createMemoryWakeup();
    wakeup.subscribe({ changes: () => {}, large: () => {}, disconnect: (...who) => void asked.push(who) });
    const other = await startApp({}, { wakeup });
    try {
      expect((await other.call('POST', '/v1/users/u%201/disconnect', { device: 'phone' })).body).toEqual({});
      expect((await other.call('POST', '/v1/users/u%201/disconnect')).status).toBe(200);
      expect(asked).toEqual([
        ['u 1', 'phone'],
        ['u 1', null],
      ]);
    } finally {
      await other.stop();
    }
  });

  test('[CN1] closes the sockets with 4402, of one device or of all', async () => {
    const connect = async (device: string): Promise<{ closed: Promise<number> }> => {
      const socket = new WebSocket(`${running.url.replace('http', 'ws')}/v1/ws`, ['tidemark.v1.json']);
      const closed = new Promise<number>((resolve) => socket.once('close', resolve));
      await new Promise((resolve) => socket.once('open', resolve));
      const token = (await running.asUser('u1')).authorization.slice('Bearer '.length);
      const welcomed = new Promise((resolve) => socket.once('message', resolve));
      socket.send(JSON.stringify({ t: 'hello', token, device, cursor: null }));
      await welcomed;
      return { closed };
    };
    const [phone, laptop] = [await connect('phone'), await connect('laptop')];
    await running.call('POST', '/v1/users/u1/disconnect', { device: 'phone' });
    expect(await phone.closed).toBe(4402);
    await running.call('POST', '/v1/users/u1/disconnect');
    expect(await laptop.closed).toBe(4402);
  });
});

describe('health', () => {
  test('healthz and readyz say so in JSON', async () => {
    expect(await running.call('GET', '/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect(await running.call('GET', '/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } });
    expect((await fetch(`${running.url}/healthz`, { method: 'HEAD' })).status).toBe(200);
  });

  test('metrics count requests by route, never by path', async () => {
    await running.call('GET', '/v1/users/some-user/unread');
    await running.call('GET', '/nowhere/some-user');
    const { status, body, headers } = await running.call('GET', '/metrics');
    expect([status, headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/plain/)]);
    expect(body['text']).toMatch(
      /^tidemark_http_requests_total\{route="\/v1\/users\/:user\/unread",method="GET",status="200"\} 1$/m,
    );
    expect(body['text']).toMatch(/^tidemark_http_requests_total\{route="none",method="GET",status="404"\} 1$/m);
    expect(body['text']).not.toContain('some-user');
  });

  test('metrics can be opened to everybody', async () => {
    const open = await startApp({ TIDEMARK_METRICS_OPEN: 'true' });
    try {
      expect((await fetch(`${open.url}/metrics`)).status).toBe(200);
    } finally {
      await open.stop();
    }
  });
});
