import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import WebSocket from 'ws';
import type { AppOverrides } from '../../src/app.ts';
import { freshDatabase } from '../support/mysql-database.ts';
import { type RunningApp, startApp } from '../support/running-app.ts';
import { startRedis } from '../support/redis.ts';
import { sharedMariadb } from '../support/shared-mariadb.ts';
import { slowClock } from '../support/slow-clock.ts';
import { openTcpProxy } from '../support/tcp-proxy.ts';

/** Two whole servers over one MariaDB and one Redis. */
/** Twice as much a round trip: slow, and not away. */
const SLOW_WAY_MS = 300;

const mariadb = await sharedMariadb();

async function startTwo(overrides: AppOverrides = {}) {
  const [database, redis] = await Promise.all([freshDatabase(mariadb), startRedis()]);
  const settings = { TIDEMARK_MYSQL_URL: database.url, TIDEMARK_REDIS_URL: redis.url };
  const nodes = await Promise.all([startApp(settings, overrides), startApp(settings, overrides)]);
  onTestFinished(async () => {
    for (const node of nodes) await node.stop();
    await Promise.all([redis.stop(), database.drop()]);
  });
  return { redis, nodes };
}

test('either node knows of the devices that are connected to the other one', async () => {
  // A node that is busy is not one that does not answer.
  const { nodes } = await startTwo({ clock: slowClock(10) });
  const conns = await Promise.all(
    nodes.map(async (node, i) => {
      const socket = new WebSocket(`${node.url.replace('http', 'ws')}/v1/ws`, ['tidemark.v1.json']);
      onTestFinished(() => socket.terminate());
      await once(socket, 'open');
      const token = (await node.asUser('ann')).authorization.slice('Bearer '.length);
      socket.send(JSON.stringify({ t: 'hello', token, device: `device-${i}`, cursor: null }));
      const [welcome] = (await once(socket, 'message')) as [Buffer];
      return (JSON.parse(welcome.toString()) as { conn: string }).conn;
    }),
  );
  for (const node of nodes) {
    const { body } = await node.call('GET', '/v1/users/ann/inspect');
    const devices = body['devices'] as { device: string; conn: string }[];
    const connOf = new Map(devices.map(({ device, conn }) => [device, conn]));
    expect(connOf).toEqual(new Map(conns.map((conn, i) => [`device-${i}`, conn])));
    expect(body['nodes']).toEqual({ asked: 2, answered: 2 });
  }
});

test('[OR2][AK4] what one node accepts while Redis is away is durable, counted by both, and fanned out when it is back', async () => {
  const { redis, nodes } = await startTwo();
  const [here, there] = nodes;
  const ready = async (node: RunningApp) => (await node.call('GET', '/readyz')).body;
  const totalOf = async (node: RunningApp) => (await node.call('GET', '/v1/users/bob/unread')).body['total'];
  const message = (id: string) => ({
    type: 'message.created',
    conv: 'c',
    message_id: id,
    sender: 'ann',
    members: ['ann', 'bob'],
  });
  await here.post(message('m1'));
  expect(await totalOf(there)).toBe(1);
  await expect.poll(async () => ready(here)).toEqual({ status: 'ready' });

  redis.pause();
  await expect.poll(async () => ready(here)).toEqual({ status: 'ready', away: ['state'] });
  await here.post(message('m2'));
  redis.resume();
  await expect.poll(async () => ready(here)).toEqual({ status: 'ready' });
  // Nobody asks for it: the state comes to know by the relay alone.
  await expect.poll(async () => totalOf(there), { interval: 100 }).toBe(2);
  const { body } = await there.call('POST', '/v1/reconcile', { repair: false });
  expect(body).toMatchObject({ wrong: 0 });
});

test('[DT8] a node whose stores are slow is still ready, and says which of them', async () => {
  const [database, redis] = await Promise.all([freshDatabase(mariadb), startRedis()]);
  const mysqlUrl = new URL(database.url);
  const lines = { truth: await openTcpProxy(Number(mysqlUrl.port)), state: await openTcpProxy(redis.port) };
  mysqlUrl.port = String(lines.truth.port);
  const node = await startApp({
    TIDEMARK_MYSQL_URL: mysqlUrl.href,
    TIDEMARK_REDIS_URL: `redis://127.0.0.1:${lines.state.port}`,
  });
  onTestFinished(async () => {
    await node.stop();
    await Promise.all([lines.truth.close(), lines.state.close(), redis.stop()]);
    await database.drop();
  });
  const saysSoon = async (body: object) =>
    expect.poll(async () => (await node.call('GET', '/readyz')).body).toEqual(body);
  await saysSoon({ status: 'ready' });
  lines.state.delayMs = SLOW_WAY_MS;
  await saysSoon({ status: 'ready', slow: ['state'] });
  lines.truth.delayMs = SLOW_WAY_MS;
  await saysSoon({ status: 'ready', slow: ['truth', 'state'] });
  lines.state.delayMs = 0;
  await saysSoon({ status: 'ready', slow: ['truth'] });
  lines.truth.delayMs = 0;
  await saysSoon({ status: 'ready' });
});
