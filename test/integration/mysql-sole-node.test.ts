import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { MariadbServer } from '../../loadtest/mariadb.ts';
import { NEED_TIMEOUT_MS } from '../support/debian.ts';
import { startMariadb } from '../support/mariadb.ts';
import { freshDatabase } from '../support/mysql-database.ts';
import { startApp } from '../support/running-app.ts';
import { runNode } from '../support/server-process.ts';
import { openTcpProxy } from '../support/tcp-proxy.ts';
import { tempFolder } from '../support/temp-folder.ts';

const REFUSED = /another node uses this database.*TIDEMARK_REDIS_URL/;

let server: MariadbServer;

beforeAll(async () => {
  server = await startMariadb();
}, NEED_TIMEOUT_MS);
afterAll(() => server.stop());

const message = (id: string) => ({
  type: 'message.created',
  conv: 'c',
  message_id: id,
  sender: 'ann',
  members: ['ann', 'bob'],
});

async function settings(): Promise<{ TIDEMARK_MYSQL_URL: string }> {
  return { TIDEMARK_MYSQL_URL: (await freshDatabase(server.url)).url };
}

/** The same database behind a link that can be cut. */
async function behindLink({ TIDEMARK_MYSQL_URL }: { TIDEMARK_MYSQL_URL: string }) {
  const url = new URL(TIDEMARK_MYSQL_URL);
  const link = await openTcpProxy(Number(url.port));
  onTestFinished(() => link.close());
  url.port = String(link.port);
  return { link, behind: { TIDEMARK_MYSQL_URL: url.href } };
}

test('[SY10] a second node on a database whose users’ state lies in the memory of the first is refused, until that has ended', async () => {
  const shared = await settings();
  const first = await startApp(shared);
  try {
    await first.post(message('m1'));
    await expect(startApp(shared)).rejects.toThrow(REFUSED);
    await first.post(message('m2'));
  } finally {
    await first.stop();
  }

  const next = await startApp(shared);
  try {
    const { body } = await next.call('GET', '/v1/users/bob/unread');
    expect(body).toMatchObject({ total: 2 });
  } finally {
    await next.stop();
  }
});

test('[SY10] the claim outlasts a restart of the database: the node goes on with what it holds, and another one is still refused', async () => {
  const shared = await settings();
  const first = await startApp(shared);
  onTestFinished(() => first.stop());
  await first.post(message('m1'));
  const before = await first.call('GET', '/v1/users/bob/unread');
  await server.kill();
  await expect.poll(async () => (await first.call('GET', '/readyz')).status).toBe(503);
  await server.start();
  await expect.poll(async () => (await first.call('GET', '/readyz')).body).toEqual({ status: 'ready' });
  await expect(startApp(shared)).rejects.toThrow(REFUSED);
  await first.post(message('m2'));
  const { body } = await first.call('GET', '/v1/users/bob/unread');
  expect(body).toMatchObject({ epoch: before.body['epoch'], total: 2 });
});

test('[SY10] a node that was cut off from the database for so long that another one took its place shows no number of its own any more, and changes nothing', async () => {
  const shared = await settings();
  const { link, behind } = await behindLink(shared);
  const lost = Promise.withResolvers<Error>();
  const first = await startApp(behind, { onLost: lost.resolve });
  onTestFinished(() => first.stop());
  await first.post(message('m1'));
  const before = await first.call('GET', '/v1/users/bob/unread');
  link.isStalled = true;

  const second = await startApp(shared);
  onTestFinished(() => second.stop());
  await second.post(message('m2'));
  const cutOff = await first.call('GET', '/v1/users/bob/unread');
  expect(cutOff.body).toMatchObject({ error: { code: 'unavailable' } });

  link.isStalled = false;
  expect((await lost.promise).message).toMatch(/another node has begun to use this database.*TIDEMARK_REDIS_URL/);
  // Truth may still be thought slow, or away, after what it did not answer.
  await expect
    .poll(async () => (await first.call('GET', '/readyz')).body)
    .toEqual({ status: 'ready', away: ['state'] });
  // The node that took its place would not hear of it.
  const late = await first.call('POST', '/v1/events', { events: [message('m3')] });
  expect(JSON.stringify(late.body)).toContain('"code":"unavailable"');
  const after = await first.call('GET', '/v1/users/bob/unread');
  expect(after.body).toMatchObject({ total: 2 });
  expect(after.body['epoch']).not.toBe(before.body['epoch']);
});

test('a server whose place another one took says so and ends', async () => {
  const shared = await settings();
  const { link, behind } = await behindLink(shared);
  const gone = runNode(['src/main.ts'], {
    ...behind,
    TIDEMARK_PORT: '0',
    TIDEMARK_DATA_DIR: tempFolder(),
    TIDEMARK_DRAIN_MS: '0',
  });
  await gone.ready;
  link.isStalled = true;
  const second = await startApp(shared);
  onTestFinished(() => second.stop());
  link.isStalled = false;
  expect(await gone.exit).toBe(1);
  expect(gone.lines).toContainEqual(expect.stringMatching(/"level":"fatal".*another node has begun to use/));
  expect(gone.lines.at(-1)).toContain('"msg":"drained"');
});
