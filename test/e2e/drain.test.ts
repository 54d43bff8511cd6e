import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import type { MariadbServer } from '../../loadtest/mariadb.ts';
import { NEED_TIMEOUT_MS } from '../support/debian.ts';
import { startMariadb } from '../support/mariadb.ts';
import { freshDatabase } from '../support/mysql-database.ts';
import { API_KEY, signedToken, TOKEN_SECRET } from '../support/product.ts';
import { startRedis } from '../support/redis.ts';
import { type NodeProcess, runNode } from '../support/server-process.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** SIGTERM to the process as it runs in production, with a device connected. */
const DRAIN_MS = 2_000;

let mariadb: MariadbServer;

beforeAll(async () => {
  mariadb = await startMariadb();
}, NEED_TIMEOUT_MS);
afterAll(() => mariadb.stop());

function start(settings: Record<string, string> = {}): NodeProcess {
  return runNode(['src/main.ts'], {
    TIDEMARK_PORT: '0',
    TIDEMARK_DATA_DIR: tempFolder(),
    TIDEMARK_API_KEY: API_KEY,
    TIDEMARK_TOKEN_SECRET: TOKEN_SECRET,
    TIDEMARK_DRAIN_MS: String(DRAIN_MS),
    ...settings,
  });
}

/** A device that is live; `gone`: the last frame that it is sent, and the close code. */
async function device(url: string): Promise<{ gone: Promise<{ last: unknown; code: number }> }> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/ws`, ['tidemark.v1.json']);
  let last: unknown = null;
  const live = Promise.withResolvers<void>();
  socket.on('message', (data: Buffer) => {
    last = JSON.parse(data.toString());
    live.resolve();
  });
  const gone = once(socket, 'close').then(([code]) => ({ last, code: code as number }));
  await once(socket, 'open');
  socket.send(JSON.stringify({ t: 'hello', token: signedToken('ann'), device: 'd', cursor: null }));
  await live.promise;
  return { gone };
}

test('a socket is told when to come back, a request under way is answered, and the process ends with 0', async () => {
  const server = start();
  const url = await server.ready;
  const { gone } = await device(url);
  const body = JSON.stringify({ events: [{ type: 'conversation.created', conv: 'c', members: ['ann'] }] });
  const headers = { authorization: `Bearer ${API_KEY}` };
  const length = { 'content-length': body.length };
  const sent = request(`${url}/v1/events`, { method: 'POST', headers: { ...headers, ...length } });
  const answered = once(sent, 'response').then(([response]) => text(response as AsyncIterable<Buffer>));
  sent.write(body.slice(0, 10));
  const metrics = async (): Promise<string> => (await fetch(`${url}/metrics`, { headers })).text();
  await expect.poll(metrics).toContain('tidemark_http_requests_in_flight 1');

  server.child.kill('SIGTERM');
  const { last, code } = await gone;
  expect(code).toBe(4000);
  expect(last).toMatchObject({ t: 'bye', code: 4000 });
  const { retry_ms: retryMs } = last as { retry_ms: number };
  expect(retryMs >= 0 && retryMs <= DRAIN_MS).toBe(true);
  sent.end(body.slice(10));
  expect(JSON.parse(await answered)).toEqual({ results: [{ ok: true }] });
  expect(await server.exit).toBe(0);
  expect(server.lines.at(-1)).toContain('"msg":"drained"');
});

for (const what of ['database', 'Redis'] as const) {
  test(`a ${what} that hangs does not keep the process`, async () => {
    const database = await freshDatabase(mariadb.url);
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const server = start({ TIDEMARK_MYSQL_URL: database.url, TIDEMARK_REDIS_URL: redis.url });
    const { gone } = await device(await server.ready);
    const pid = what === 'database' ? mariadb.pid : redis.pid;
    process.kill(pid, 'SIGSTOP');
    try {
      server.child.kill('SIGTERM');
      expect((await gone).code).toBe(4000);
      expect(await server.exit).toBe(0);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });
}
