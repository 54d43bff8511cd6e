import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { Unavailable } from '../../src/errors.ts';
import type { Truth } from '../../src/ports.ts';
import { openSqliteTruth } from '../../src/truth/sqlite/open.ts';
import { API_KEY, type RunningApp, startApp } from '../support/running-app.ts';
import { tempFolder } from '../support/temp-folder.ts';

let running: RunningApp | null = null;
afterEach(async () => {
  await running?.stop();
  running = null;
});

interface RawAnswer {
  status: number;
  headers: Record<string, unknown>;
  body: string;
}

/** A request whose body is written by hand. Answers as soon as the server does, however much of the body is still to come. */
function send(
  url: string,
  headers: Record<string, string | number>,
  write: (write: (chunk: string) => boolean) => void,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/v1/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, ...headers },
    });
    sent.on('response', (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.on('end', () => {
        sent.destroy();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      });
    });
    sent.on('error', reject);
    write((chunk) => sent.write(chunk));
  });
}

/** The real store, with calls that go wrong for as long as `faultOf` says so. */
function faultyTruth(faultOf: (method: keyof Truth) => Error | null): Truth {
  const truth = openSqliteTruth({ file: join(tempFolder(), 'truth.sqlite') });
  return new Proxy(truth, {
    get(target, name: keyof Truth) {
      const fault = faultOf(name);
      return fault === null ? target[name].bind(target) : () => Promise.reject(fault);
    },
  });
}

describe('bodies', () => {
  test('one that says it is too large is refused before it comes', async () => {
    running = await startApp({ TIDEMARK_BODY_BYTES_MAX: '2000' });
    const answer = await send(running.url, { 'content-length': 2001 }, (write) => write('{'));
    expect(answer.status).toBe(413);
    expect(JSON.parse(answer.body)).toEqual({
      error: { code: 'too_large', message: 'the body must have at most 2000 bytes' },
    });
  });

  test('one that turns out to be too large is refused as soon as it is', async () => {
    running = await startApp({ TIDEMARK_BODY_BYTES_MAX: '2000' });
    const answer = await send(running.url, { 'transfer-encoding': 'chunked' }, (write) => write('x'.repeat(2001)));
    expect(answer.status).toBe(413);
  });

  test('one of exactly the limit is taken, and 40 MiB are not', async () => {
    running = await startApp({ TIDEMARK_BODY_BYTES_MAX: '2000' });
    const body = '{"events":[]}'.padEnd(2000);
    expect(await running.call('POST', '/v1/events', body)).toMatchObject({ status: 200 });
    expect(await running.call('POST', '/v1/events', 'x'.repeat(40 * 2 ** 20))).toMatchObject({ status: 413 });
    expect((await running.call('GET', '/healthz')).status).toBe(200);
  });

  test('one that ends early is thrown away, and the server goes on', async () => {
    running = await startApp();
    const sent = request(`${running.url}/v1/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-length': 100 },
    });
    const broken = new Promise((resolve) => sent.on('error', resolve));
    sent.write('{"events":[');
    await expect.poll(() => inFlight(running!)).toBe(1);
    sent.destroy();
    await broken;
    await expect.poll(() => inFlight(running!)).toBe(0);
    expect(await running.call('POST', '/v1/events', { events: [] })).toMatchObject({ status: 200 });
    // The caller's doing, and no fault of the server.
    expect((await running.call('GET', '/metrics')).body['text']).not.toMatch(/^tidemark_faults_total/m);
  });
});

describe('too much at once', () => {
  test('more requests than allowed get 503 and Retry-After, health and those already in do not', async () => {
    running = await startApp({ TIDEMARK_REQUESTS_IN_FLIGHT_MAX: '2' });
    const { url } = running;
    const finish: (() => void)[] = [];
    const slow = [1, 2].map(() =>
      send(url, { 'content-length': 13 }, (write) => {
        write('{"events"');
        finish.push(() => write(':[]}'));
      }),
    );
    await expect.poll(() => inFlight(running!)).toBe(2);
    const refused = await running.call('POST', '/v1/events', { events: [] });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(refused.body).toEqual({
      error: { code: 'unavailable', message: 'too many requests at once', retry_ms: 1000 },
    });
    expect((await running.call('GET', '/readyz')).status).toBe(200);
    for (const end of finish) end();
    expect((await Promise.all(slow)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await running.call('POST', '/v1/events', { events: [] })).status).toBe(200);
  });

  test('more bytes than all bodies together may have get 503', async () => {
    // Sixteen of the largest bodies, each just short of its end.
    running = await startApp({ TIDEMARK_BODY_BYTES_MAX: '10000' });
    const { url } = running;
    const sockets = Array.from({ length: 16 }, () => {
      const sent = request(`${url}/v1/events`, {
        method: 'POST',
        headers: { authorization: `Bearer ${API_KEY}`, 'content-length': 10_000 },
      });
      sent.on('error', () => {});
      sent.write('x'.repeat(9999));
      return sent;
    });
    const body = JSON.stringify({ events: [] }).padEnd(1000);
    await expect.poll(async () => (await running!.call('POST', '/v1/events', body)).status).toBe(503);
    for (const sent of sockets) sent.destroy();
    await expect.poll(async () => (await running!.call('POST', '/v1/events', body)).status).toBe(200);
  });

  test('a user who pulls in a loop gets 429 and Retry-After, another one does not', async () => {
    running = await startApp({ TIDEMARK_PULLS_PER_SECOND_MAX: '1' });
    const greedy = await running.asUser('greedy');
    const statuses: number[] = [];
    let last;
    for (let i = 0; i < 10 && last?.status !== 429; i++) {
      last = await running.call('GET', '/v1/sync', undefined, greedy);
      statuses.push(last.status);
    }
    expect(statuses).toContain(200);
    expect(last).toMatchObject({
      status: 429,
      body: { error: { code: 'rate_limited', retry_ms: expect.any(Number) } },
    });
    expect(last?.headers.get('retry-after')).toBe('1');
    expect((await running.call('GET', '/v1/sync', undefined, await running.asUser('other'))).status).toBe(200);
  });
});

describe('what goes wrong inside', () => {
  test('truth away: 503 with Retry-After, not ready, nothing changed, and well again', async () => {
    let isAway = true;
    const away = new Unavailable('truth is away', 2500);
    const truth = faultyTruth((method) => (isAway && ['transact', 'ping'].includes(method) ? away : null));
    running = await startApp({}, { truth });
    const event = { type: 'conversation.created', conv: 'c1', members: ['u1'] };
    const refused = await running.call('POST', '/v1/events', { events: [event] });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '3']);
    expect(refused.body).toEqual({ error: { code: 'unavailable', message: 'truth is away', retry_ms: 2500 } });
    expect(await running.call('GET', '/readyz')).toMatchObject({
      status: 503,
      body: { error: { code: 'unavailable' } },
    });
    expect((await running.call('GET', '/healthz')).status).toBe(200);
    isAway = false;
    expect((await running.call('GET', '/readyz')).status).toBe(200);
    expect(await running.post(event)).toEqual([{ ok: true }]);
  });

  test('a fault of the server tells nothing of itself', async () => {
    const truth = faultyTruth((method) => (method === 'heads' ? new Error('secret of row 7') : null));
    running = await startApp({}, { truth });
    const answer = await running.call('POST', '/v1/conversations:check', { items: [] });
    expect([answer.status, answer.body]).toEqual([
      500,
      { error: { code: 'internal', message: 'a fault of the server; it has been logged' } },
    ]);
    const { body } = await running.call('GET', '/metrics');
    expect(body['text']).toContain('tidemark_faults_total{kind="unexpected"} 1');
  });
});

describe('requests that are none', () => {
  test('HTTP/1.0 without a host is answered', async () => {
    running = await startApp();
    expect(await raw(running.url, 'GET /healthz HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('a faulty host is refused, in JSON', async () => {
    running = await startApp();
    const answer = await raw(running.url, 'GET /healthz HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('"code":"invalid_field"');
  });

  test('what is no HTTP ends the connection and nothing else', async () => {
    running = await startApp();
    expect(await raw(running.url, 'nonsense\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
    expect((await running.call('GET', '/healthz')).status).toBe(200);
  });
});

async function inFlight(app: RunningApp): Promise<number> {
  const { body } = await app.call('GET', '/metrics');
  return Number(/^tidemark_http_requests_in_flight (\d+)$/m.exec(body['text'] as string)?.[1]);
}

function raw(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let answer = '';
    socket.setEncoding('utf8').on('data', (part: string) => {
      answer += part;
    });
    socket.on('end', () => resolve(answer)).on('error', reject);
  });
}
