import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import WebSocket from 'ws';
import type { InspectAnswer, WatchedChange } from '../../protocol/http.ts';
import { API_KEY, type RunningApp, startApp } from '../support/running-app.ts';

const MARKUP = '<img src=x onerror=alert(1)>';
const EMOJI = '🌊'.repeat(32);
const WATCHES_MAX = 32;

let running: RunningApp;
beforeAll(async () => {
  running = await startApp();
  await running.post({
    type: 'message.created',
    conv: EMOJI,
    message_id: 'm1',
    sender: 'bob',
    members: [MARKUP, 'bob'],
  });
});
afterAll(() => running.stop());

async function inspected(user: string, query = ''): Promise<InspectAnswer> {
  const { status, body } = await running.call('GET', `/v1/users/${encodeURIComponent(user)}/inspect${query}`);
  expect(status).toBe(200);
  return body as unknown as InspectAnswer;
}

/** The changes of a user, one by one as they come. */
async function watched(user: string, { url }: RunningApp = running) {
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const headers = { authorization: `Bearer ${API_KEY}` };
  const answer = await fetch(`${url}/v1/users/${encodeURIComponent(user)}/changes`, { headers, signal: ending.signal });
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return {
    status: answer.status,
    type: answer.headers.get('content-type'),
    end: () => ending.abort(),
    /** Null at the end. */
    async next(): Promise<WatchedChange | null> {
      for (;;) {
        const [, data, rest] = /^data: (.*)\n\n([^]*)$/m.exec(text) ?? [];
        if (data !== undefined) {
          text = rest ?? '';
          return JSON.parse(data) as WatchedChange;
        }
        const { done, value } = await reader.read();
        if (done) return null;
        text += value;
      }
    },
  };
}

describe('inspect', () => {
  test('is for holders of the API key alone, and names what is wrong with a request', async () => {
    for (const path of ['inspect', 'changes']) {
      const { status } = await running.call('GET', `/v1/users/u/${path}`, undefined, { authorization: '' });
      expect(status).toBe(401);
      const token = await running.asUser('u');
      expect((await running.call('GET', `/v1/users/u/${path}`, undefined, token)).status).toBe(401);
      expect((await running.call('GET', `/v1/users/${'u'.repeat(129)}/${path}`)).body).toMatchObject({
        error: { code: 'invalid_field', field: 'user' },
      });
    }
    for (const newest of ['-1', '1001', 'x']) {
      const { status, body } = await running.call('GET', `/v1/users/u/inspect?newest=${newest}`);
      expect([status, body]).toMatchObject([400, { error: { code: 'invalid_field', field: 'newest' } }]);
    }
  });

  test('a user whom nobody knows has nothing, and does not come to be by being looked at', async () => {
    const nothing = { total: 0, badge: 0, mentions: 0, digest: '000000000000', rows: 0 };
    for (let i = 0; i < 2; i++) {
      expect(await inspected('nobody')).toEqual({
        user: 'nobody',
        truth: nothing,
        state: null,
        verdicts: { same: 0, behind: 0, ahead: 0, wrong: 0 },
        rows: [],
        left_out: 0,
        devices: [],
        nodes: { asked: 1, answered: 1 },
      });
    }
  });

  test('names the live connections, and where each was last told that it stands', async () => {
    const socket = new WebSocket(`${running.url.replace('http', 'ws')}/v1/ws`, ['tidemark.v1.json']);
    onTestFinished(() => socket.terminate());
    await new Promise((resolve) => socket.once('open', resolve));
    const token = (await running.asUser(MARKUP)).authorization.slice('Bearer '.length);
    const welcomed = new Promise<string>((resolve) =>
      socket.once('message', (data: Buffer) => resolve(data.toString())),
    );
    socket.send(JSON.stringify({ t: 'hello', token, device: EMOJI, cursor: null }));
    const { epoch, sync_version, total, digest, conn } = JSON.parse(await welcomed) as Record<string, unknown>;

    const { devices, rows, truth, state } = await inspected(MARKUP);
    expect(devices).toEqual([
      {
        device: EMOJI,
        conn,
        codec: 'tidemark.v1.json',
        connected_ms: expect.any(Number),
        beat_in_ms: expect.any(Number),
        silent_ms: null,
        queued_bytes: expect.any(Number),
        told: { epoch, sync_version, total, digest },
      },
    ]);
    expect(rows.map(({ conv }) => conv)).toEqual([EMOJI]);
    expect([truth.total, state?.total, total]).toEqual([1, 1, 1]);
    expect((await inspected(MARKUP, '?newest=0')).left_out).toBe(1);
  });
});

describe('changes', () => {
  test('[SY1] come as they are pushed, each once, with the version before and after', async () => {
    const before = await running.app.services.sync.view(MARKUP);
    const changes = await watched(MARKUP);
    expect([changes.status, changes.type]).toEqual([200, 'text/event-stream']);
    const message = { type: 'message.created', conv: EMOJI, sender: 'bob' };
    await running.post({ ...message, message_id: 'w1' });
    expect(await changes.next()).toMatchObject({
      epoch: before.epoch,
      base_version: before.syncVersion,
      sync_version: before.syncVersion + 1,
      op: 'message',
      total: before.total + 1,
      rows: [{ conv: EMOJI, unread: before.total + 1 }],
    });
    await running.post({ ...message, message_id: 'w2', conv: 'elsewhere', members: ['cid', 'bob'] });
    await running.post({ ...message, message_id: 'w3' });
    expect(await changes.next()).toMatchObject({ base_version: before.syncVersion + 1, total: before.total + 2 });
  });

  test('are not held open by those who ask for the head of them', async () => {
    const statuses: number[] = [];
    for (let i = 0; i <= WATCHES_MAX; i++) {
      statuses.push((await running.call('HEAD', '/v1/users/u/changes')).status);
    }
    expect(statuses).toEqual(statuses.map(() => 200));
  });

  test('are for so many at once; one that has gone makes room', async () => {
    const open = await Promise.all(Array.from({ length: WATCHES_MAX }, (_, i) => watched(`w${i}`)));
    expect(open.map(({ status }) => status)).toEqual(open.map(() => 200));
    const refused = await running.call('GET', '/v1/users/one-more/changes');
    expect([refused.status, refused.body]).toMatchObject([503, { error: { code: 'unavailable' } }]);
    open[0]?.end();
    await expect.poll(async () => (await watched('one-more')).status).toBe(200);
    for (const { end } of open) end();
  });

  test('end when the server drains', async () => {
    const other = await startApp();
    const changes = await watched('u', other);
    await Promise.all([other.app.drain(), expect(changes.next()).resolves.toBeNull()]);
    await other.stop();
  });
});
