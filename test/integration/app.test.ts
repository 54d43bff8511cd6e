import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { createApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { API_KEY, startApp } from '../support/running-app.ts';
import { tempFolder } from '../support/temp-folder.ts';

const log = createLog('silent');

function logged(): { log: ReturnType<typeof createLog>; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>);
  return { log: createLog('info', { write }), lines };
}

describe('first start', () => {
  test('needs nothing: keys are made, kept, and the same at the next start; the log does not hold them', async () => {
    const dataDir = tempFolder();
    const config = readConfig({ TIDEMARK_PORT: '0', TIDEMARK_DATA_DIR: dataDir });
    const { log: watched, lines } = logged();
    const keys: string[] = [];
    for (let start = 0; start < 2; start++) {
      const app = await createApp(config, { log: watched });
      const { url } = await app.start();
      expect(app.url).toBe(url);
      keys.push(readFileSync(`${dataDir}/api-key`, 'utf8').trim());
      const headers = { authorization: `Bearer ${keys[0]}` };
      expect((await fetch(`${url}/v1/users/u1/unread`, { headers })).status).toBe(200);
      await app.drain();
    }
    expect(keys[0]).toBe(keys[1]);
    const files = lines.map(({ file }) => file);
    expect(files).toEqual(['api-key', 'token-secret', 'api-key', 'token-secret'].map((name) => `${dataDir}/${name}`));
    expect(JSON.stringify(lines)).not.toContain(keys[0]);
  });

  test('a key that can be guessed is warned of', async () => {
    const config = readConfig({ TIDEMARK_PORT: '0', TIDEMARK_DATA_DIR: tempFolder(), TIDEMARK_API_KEY: 'short' });
    const { log: watched, lines } = logged();
    const app = await createApp(config, { log: watched });
    await app.start();
    await app.stop();
    expect(lines).toContainEqual(expect.objectContaining({ level: 'warn', env: 'TIDEMARK_API_KEY' }));
  });

  test('the previous key and the previous secret are accepted too', async () => {
    const running = await startApp({
      TIDEMARK_API_KEY: 'n'.repeat(32),
      TIDEMARK_API_KEY_PREVIOUS: API_KEY,
      TIDEMARK_TOKEN_SECRET: 'n'.repeat(32),
      TIDEMARK_TOKEN_SECRET_PREVIOUS: 's'.repeat(32),
    });
    expect((await running.call('GET', '/v1/users/u1/unread')).status).toBe(200);
    const present = { authorization: `Bearer ${'n'.repeat(32)}` };
    expect((await running.call('GET', '/v1/users/u1/unread', undefined, present)).status).toBe(200);
    expect((await running.call('GET', '/v1/sync', undefined, await running.asUser('u1'))).status).toBe(200);
    await running.stop();
  });
});

describe('a start that cannot be', () => {
  test('a port that is taken: the reason is told, and nothing is left running or locked', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as AddressInfo;
    const dataDir = tempFolder();
    const app = await createApp(readConfig({ TIDEMARK_PORT: String(port), TIDEMARK_DATA_DIR: dataDir }), { log });
    expect(() => app.url).toThrow('not been started');
    await expect(app.start()).rejects.toThrow(/EADDRINUSE/);
    const next = await createApp(readConfig({ TIDEMARK_PORT: '0', TIDEMARK_DATA_DIR: dataDir }), { log });
    await next.start();
    await next.stop();
    await new Promise((resolve) => taken.close(resolve));
  });

  test('a data folder that another server holds', async () => {
    const running = await startApp();
    const config = readConfig({ TIDEMARK_PORT: '0', TIDEMARK_DATA_DIR: running.dataDir });
    await expect(createApp(config, { log })).rejects.toThrow(/truth\.sqlite/);
    expect((await running.call('GET', '/readyz')).status).toBe(200);
    await running.stop();
  });
});

describe('the end', () => {
  test('drain: sockets are told when to come back, requests under way are answered, connections end, facts stay', async () => {
    const running = await startApp({ TIDEMARK_DRAIN_MS: '2000' });
    await running.post({ type: 'message.created', conv: 'c1', message_id: 'm1', sender: 'u2', members: ['u1', 'u2'] });
    const socket = new WebSocket(`${running.url.replace('http', 'ws')}/v1/ws`, ['tidemark.v1.json']);
    await new Promise((resolve) => socket.once('open', resolve));
    const frames: { t: string; retry_ms?: number }[] = [];
    socket.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString()) as { t: string }));
    const closed = new Promise<number>((resolve) => socket.once('close', resolve));
    const token = (await running.asUser('u1')).authorization.slice('Bearer '.length);
    socket.send(JSON.stringify({ t: 'hello', token, device: 'd', cursor: null }));
    await expect.poll(() => frames.length).toBeGreaterThan(1);

    const agent = new Agent({ keepAlive: true });
    const body = JSON.stringify({ events: [{ type: 'message.created', conv: 'c1', message_id: 'm2', sender: 'u2' }] });
    const sent = request(`${running.url}/v1/events`, {
      agent,
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-length': body.length },
    });
    const answered = new Promise<{ status: number | undefined; connection: string | undefined }>((resolve, reject) => {
      sent.on('response', (response) => {
        response.resume();
        resolve({ status: response.statusCode, connection: response.headers.connection });
      });
      sent.on('error', reject);
    });
    sent.write(body.slice(0, 10));
    await expect
      .poll(async () => (await running.call('GET', '/metrics')).body['text'])
      .toContain('tidemark_http_requests_in_flight 1');

    // It does not answer the goodbye yet, so that the drain is not over before anybody has looked at it.
    socket.pause();
    const drained = running.app.drain();
    const ready = await running.call('GET', '/readyz');
    expect([ready.status, ready.headers.get('connection'), ready.headers.get('retry-after')]).toEqual([
      503,
      'close',
      '2',
    ]);
    socket.resume();
    expect(await closed).toBe(4000);
    const bye = frames.at(-1);
    expect(bye).toMatchObject({ t: 'bye', code: 4000 });
    expect(bye!.retry_ms! >= 0 && bye!.retry_ms! <= 2000).toBe(true);
    sent.end(body.slice(10));
    expect(await answered).toEqual({ status: 200, connection: 'close' });
    await drained;
    await expect(fetch(`${running.url}/healthz`)).rejects.toThrow('fetch failed');

    const again = await startApp({ TIDEMARK_DATA_DIR: running.dataDir });
    expect((await again.call('GET', '/v1/users/u1/unread')).body).toMatchObject({ total: 2 });
    await again.stop();
    await running.stop();
    agent.destroy();
  });

  test('stop cuts what is open, also in the middle of a drain, and may be called twice', async () => {
    const running = await startApp();
    const sent = request(`${running.url}/v1/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-length': 100 },
    });
    const cut = new Promise<Error>((resolve) => sent.once('error', resolve));
    sent.write('{');
    await expect
      .poll(async () => (await running.call('GET', '/metrics')).body['text'])
      .toContain('tidemark_http_requests_in_flight 1');
    const drained = running.app.drain();
    await running.app.stop();
    await drained;
    expect((await cut).message).toMatch(/hang up|ECONNRESET/);
    await running.stop();
  });
});
