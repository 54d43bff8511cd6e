import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { eventually } from '../support/demo-page.ts';
import { type NodeProcess, runNode, runProgram } from '../support/server-process.ts';
import { tempFolder } from '../support/temp-folder.ts';

const KEY = 'k'.repeat(32);

function start(settings: Record<string, string> = {}, dataDir = tempFolder()): NodeProcess {
  return runNode(['src/main.ts'], {
    TIDEMARK_PORT: '0',
    TIDEMARK_DATA_DIR: dataDir,
    TIDEMARK_API_KEY: KEY,
    ...settings,
  });
}

async function post(url: string, ...events: object[]): Promise<unknown> {
  const headers = { authorization: `Bearer ${KEY}` };
  const response = await fetch(`${url}/v1/events`, { method: 'POST', headers, body: JSON.stringify({ events }) });
  return response.json();
}

/** A request whose body does not end, so that the drain has something to wait for. */
async function hang(url: string): Promise<void> {
  const headers = { authorization: `Bearer ${KEY}`, 'content-length': 100 };
  const sent = request(`${url}/v1/events`, { method: 'POST', headers });
  sent.on('error', () => {});
  sent.write('{');
  const metrics = async (): Promise<string> =>
    (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${KEY}` } })).text();
  await eventually(metrics).toContain('tidemark_http_requests_in_flight 1');
}

describe('start', () => {
  test('prints one JSON line that says it is ready, and where, whatever the level of the log', async () => {
    for (const level of ['info', 'silent']) {
      const server = start({ TIDEMARK_LOG_LEVEL: level });
      const url = await server.ready;
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
      expect(server.lines.filter((line) => line.includes('"msg":"ready"'))).toHaveLength(1);
      server.child.kill('SIGTERM');
      expect(await server.exit).toBe(0);
      expect(server.errors()).toBe('');
    }
  });

  test('settings that are not usable: all of them on standard error, exit code 2, nothing made', async () => {
    const server = start({ TIDEMARK_PORT: 'x', TIDEMARK_HEARTBEAT: '1' }, `${tempFolder()}/data`);
    expect(await server.exit).toBe(2);
    expect(server.errors()).toMatch(
      /TIDEMARK_PORT must be an integer[^]*TIDEMARK_HEARTBEAT is no setting; did you mean TIDEMARK_HEARTBEAT_MS\?/,
    );
    expect(server.lines).toEqual([]);
  });

  test('a port that is taken: the reason in the log, exit code 1', async () => {
    const first = start();
    const { port } = new URL(await first.ready);
    const second = start({ TIDEMARK_PORT: port });
    expect(await second.exit).toBe(1);
    expect(second.lines).toContainEqual(expect.stringMatching(/"level":"fatal".*TIDEMARK_PORT.*EADDRINUSE/));
    first.child.kill('SIGINT');
    expect(await first.exit).toBe(0);
  });
});

describe('stop', () => {
  test('a signal to npm alone, as a supervisor sends it, ends the server that npm started', async () => {
    const npm = runProgram('npm', ['start'], {
      PATH: process.env['PATH'] ?? '',
      TIDEMARK_PORT: '0',
      TIDEMARK_DATA_DIR: tempFolder(),
    });
    const url = await npm.ready;
    npm.child.kill('SIGTERM');
    expect(await npm.exit).toBe(0);
    expect(npm.lines.at(-1)).toContain('"msg":"drained"');
    await expect(fetch(url)).rejects.toThrow('fetch failed');
  });

  test('a signal that comes twice at once is one wish', async () => {
    const server = start();
    await server.ready;
    server.child.kill('SIGINT');
    server.child.kill('SIGINT');
    expect(await server.exit).toBe(0);
    expect(server.lines.at(-1)).toContain('"msg":"drained"');
  });

  test('a second signal from somebody who will not wait ends it at once', async () => {
    const server = start();
    await hang(await server.ready);
    server.child.kill('SIGTERM');
    await eventually(() => server.lines.at(-1)).toContain('"msg":"draining"');
    const again = setInterval(() => server.child.kill('SIGTERM'), 100);
    expect(await server.exit).toBe(143);
    clearInterval(again);
    expect(server.lines.at(-1)).toContain('"msg":"stopping at once"');
  });

  test('what was answered survives SIGKILL', async () => {
    const dataDir = tempFolder();
    const first = start({}, dataDir);
    const event = { type: 'message.created', conv: 'c1', message_id: 'm1', sender: 'u2', members: ['u1', 'u2'] };
    expect(await post(await first.ready, event)).toEqual({ results: [{ ok: true, seq: 1, duplicate: false }] });
    first.child.kill('SIGKILL');
    expect(await first.exit).toBe('SIGKILL');
    const second = start({}, dataDir);
    expect(await post(await second.ready, event)).toEqual({ results: [{ ok: true, seq: 1, duplicate: true }] });
    second.child.kill('SIGTERM');
    expect(await second.exit).toBe(0);
  });
});

describe('the log', () => {
  test('never holds a key, a token or a payload', async () => {
    const dataDir = tempFolder();
    const server = runNode(['src/main.ts'], {
      TIDEMARK_PORT: '0',
      TIDEMARK_DATA_DIR: dataDir,
      TIDEMARK_LOG_LEVEL: 'trace',
    });
    const url = await server.ready;
    const key = readFileSync(`${dataDir}/api-key`, 'utf8').trim();
    const secret = readFileSync(`${dataDir}/token-secret`, 'utf8').trim();
    const headers = { authorization: `Bearer ${key}` };
    const event = { type: 'message.created', conv: 'planted', message_id: 'planted', sender: 'planted' };
    await fetch(`${url}/v1/events`, { method: 'POST', headers, body: JSON.stringify({ events: [event] }) });
    await fetch(`${url}/v1/events`, { method: 'POST', headers, body: '{"planted":' });
    await fetch(`${url}/v1/users/planted/unread?cursor=planted&token=planted`, { headers });
    await fetch(`${url}/v1/sync?token=planted`, { headers: { authorization: 'Bearer eyJplanted.planted.planted' } });
    server.child.kill('SIGTERM');
    expect(await server.exit).toBe(0);
    const text = server.lines.join('\n');
    for (const hidden of [key, secret, 'planted']) expect(text).not.toContain(hidden);
  });
});
