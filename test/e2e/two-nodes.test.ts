/** Two whole servers, processes of their own, over one MariaDB and one Redis: one product to every device. */
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { openBalancer } from '../support/balancer.ts';
import { withKey } from '../support/call-wave.ts';
import { NEED_TIMEOUT_MS } from '../support/debian.ts';
import { freshDatabase } from '../support/mysql-database.ts';
import { countedIn, type Product, shownOf, signedToken, startProduct, until } from '../support/product.ts';
import { type Frame, openRaw, type RawSocket } from '../support/raw-socket.ts';
import { startRedis } from '../support/redis.ts';
import { sharedMariadb } from '../support/shared-mariadb.ts';

const USERS = Array.from({ length: 10 }, (_, i) => `user-${i}`);
let here: Product;
let there: Product;

beforeEach(async () => {
  const [database, redis] = await Promise.all([sharedMariadb().then(freshDatabase), startRedis()]);
  const settings = { TIDEMARK_MYSQL_URL: database.url, TIDEMARK_REDIS_URL: redis.url };
  [here, there] = [await startProduct(settings), await startProduct(settings)];
  onTestFinished(async () => {
    await Promise.all([here.kill(), there.kill()]);
    await redis.stop();
    await database.drop();
  });
  await here.post({ ...message(1), members: [...USERS, 'bob'] });
}, NEED_TIMEOUT_MS);

function message(n: number) {
  return { type: 'message.created', conv: 'c', message_id: `m${n}`, sender: 'bob' };
}

interface Hello {
  readonly attempt?: number;
  readonly cursor?: object | null;
  readonly device?: string;
}

async function greeting(node: Product, user: string, hello: Hello = {}): Promise<RawSocket> {
  const socket = await openRaw(Number(new URL(node.url).port));
  if ('status' in socket) throw new Error(`the handshake was refused with ${socket.status}`);
  onTestFinished(() => socket.cut());
  socket.send({ t: 'hello', token: signedToken(user), device: 'phone', cursor: null, ...hello });
  return socket;
}

async function welcomed(node: Product, user: string, hello?: Hello): Promise<{ socket: RawSocket; welcome: Frame }> {
  const socket = await greeting(node, user, hello);
  return { socket, welcome: await socket.next('welcome') };
}

async function isAlive(socket: RawSocket): Promise<boolean> {
  socket.send({ t: 'ping' });
  return (await socket.next('hb')).t === 'hb';
}

test('[AK5] a device that comes to the other node replaces its connection here; a lower attempt replaces nothing and ends', async () => {
  const first = await welcomed(here, 'user-0', { attempt: 1 });
  const laptop = await welcomed(here, 'user-0', { device: 'laptop', attempt: 1 });
  const second = await welcomed(there, 'user-0', { attempt: 2 });
  expect(await first.socket.next('bye')).toMatchObject({ code: 4404 });
  const late = await greeting(here, 'user-0', { attempt: 1 });
  expect(await late.next('bye')).toMatchObject({ code: 4404 });
  const third = await welcomed(here, 'user-0', { attempt: 3 });
  expect(await second.socket.next('bye')).toMatchObject({ code: 4404 });
  expect(await Promise.all([laptop.socket, third.socket].map(isAlive))).toEqual([true, true]);
});

test('[AK5][LC5] what is read, muted and cleared on a device of one node shows on those of the other', async () => {
  const [phone, tablet] = [here.client('user-1'), there.client('user-1', { device: 'tablet' })];
  for (const client of [phone, tablet]) await until(client, () => client.total() === 1);
  phone.markRead('c');
  await until(tablet, () => tablet.total() === 0);
  await there.post(message(2));
  for (const client of [phone, tablet]) await until(client, () => client.total() === 1);
  tablet.mute('c');
  await until(phone, () => phone.badge() === 0 && phone.total() === 1);
  tablet.clear('c');
  await until(phone, () => phone.list().length === 0);
});

test('a user who is logged out by a call to one node is logged out on both, and a device alone where it is named', async () => {
  const phone = await welcomed(there, 'user-2');
  const laptop = await welcomed(there, 'user-2', { device: 'laptop' });
  const other = await welcomed(there, 'user-3');
  const logOut = (body: object) =>
    fetch(`${here.url}/v1/users/user-2/disconnect`, {
      method: 'POST',
      headers: { ...withKey, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  expect((await logOut({ device: 'laptop' })).status).toBe(200);
  expect(await laptop.socket.next('bye')).toMatchObject({ code: 4402 });
  expect(await isAlive(phone.socket)).toBe(true);
  expect((await logOut({})).status).toBe(200);
  expect(await phone.socket.next('bye')).toMatchObject({ code: 4402 });
  expect(await isAlive(other.socket)).toBe(true);
});

test('[SY2][SY10][AK4] a node is killed: its devices go on at the other one from where they stood, without a snapshot', async () => {
  const balancer = await openBalancer([here.url, there.url]);
  onTestFinished(() => balancer.close());
  const clients = USERS.map((user) => ({ user, client: there.client(user, { url: balancer.url, device: 'watch' }) }));
  for (const { client } of clients) await until(client, () => client.total() === 1);
  const held = await Promise.all(USERS.map(async (user) => ({ user, ...(await welcomed(here, user)) })));
  for (const { client } of clients.slice(0, 5)) client.markRead('c');
  for (const { client } of clients.slice(0, 5)) await until(client, () => client.pending().length === 0);
  // Half of the devices have seen the read; their cursor is where they stand.
  const cursors = new Map<string, object>();
  for (const { user, socket, welcome } of held) {
    const isRead = USERS.indexOf(user) < 5;
    const at = isRead ? await socket.next('delta') : welcome;
    cursors.set(user, { epoch: at['epoch'], sync_version: at['sync_version'] });
  }

  await here.kill();
  for (const { user } of held) {
    const { welcome } = await welcomed(there, user, { cursor: cursors.get(user) ?? null });
    expect(welcome).toMatchObject({ mode: 'noop', total: USERS.indexOf(user) < 5 ? 0 : 1 });
  }
  await there.post(message(2));
  // Their own node has brought it to them: then it stands in the state, and whoever comes now finds it there.
  for (const { user, client } of clients) {
    await until(client, () => client.total() === (USERS.indexOf(user) < 5 ? 1 : 2));
  }
  for (const { user } of held) {
    const { socket, welcome } = await welcomed(there, user, { cursor: cursors.get(user) ?? null });
    expect(welcome).toMatchObject({ mode: 'delta', total: USERS.indexOf(user) < 5 ? 1 : 2 });
    expect(await socket.next('delta')).toMatchObject({ rows: [{ conv: 'c' }] });
  }
  for (const { user, client } of clients) {
    const counted = JSON.stringify(countedIn(await there.unread(user)));
    await until(client, () => JSON.stringify(shownOf(client)) === counted);
  }
});
