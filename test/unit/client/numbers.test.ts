import { expect, test } from 'vitest';
import type { ServerFrame } from '../../../protocol/server-frames.ts';
import { ClientWorld, shownBy, truthOf } from '../../support/client-world.ts';

function filled(conversations: number) {
  const world = new ClientWorld();
  for (let i = 0; i < conversations; i++) {
    world.truth.create(`c${i}`, ['u1', 'u2']);
    world.truth.post(`c${i}`, 'u2');
  }
  return world;
}

test('what does not change stays the same object; a change tells of one conversation', async () => {
  const world = filled(5);
  const client = await world.live('u1');
  const changed: string[] = [];
  let updates = 0;
  client.on('change', ({ conv }) => changed.push(conv));
  const stop = client.subscribe(() => {
    updates++;
  });
  const [list, c0, c1] = [client.list(), client.get('c0'), client.get('c1')];
  world.truth.post('c1', 'u2');
  await world.clock.pass(10);
  expect(changed).toEqual(['c1']);
  expect(updates).toBe(1);
  expect(client.get('c0')).toBe(c0);
  expect(client.get('c1')).not.toBe(c1);
  expect(client.list()).not.toBe(list);
  expect(client.list()).toBe(client.list());

  // A snapshot brings new rows that say the same: nobody has to draw anything.
  const before = client.list();
  world.truth.loseState('u1');
  await world.clock.pass(100);
  expect(client.list()).toBe(before);
  expect(changed).toEqual(['c1']);
  stop();
  const last = updates;
  world.truth.post('c2', 'u2');
  await world.clock.pass(10);
  expect(updates).toBe(last);
  await client.close();
});

test('a listener that throws is not in the way of the others, nor of the client', async () => {
  const world = filled(1);
  const client = await world.live('u1');
  const thrown: unknown[] = [];
  const keep = (error: unknown) => thrown.push(error);
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException').on('uncaughtException', keep);
  let told = 0;
  const stop = client.subscribe(() => {
    throw new Error('of the app');
  });
  client.subscribe(() => {
    told++;
  });
  world.truth.post('c0', 'u2');
  await world.clock.pass(10);
  stop();
  process.removeAllListeners('uncaughtException');
  for (const other of others) process.on('uncaughtException', other);
  expect(thrown).toEqual([new Error('of the app')]);
  expect([told, client.total()]).toEqual([1, 2]);
  await client.close();
});

test('[SY6] a snapshot that is cut off goes on from its page, and until it is whole the old numbers stand', async () => {
  const world = filled(20);
  const client = await world.live('u1');
  expect(client.total()).toBe(20);
  client.disconnect();
  await world.clock.pass(100);
  world.truth.loseState('u1');
  for (let i = 0; i < 20; i++) world.truth.post(`c${i}`, 'u2');
  const pages: number[] = [];
  world.network.fault = (frame) => {
    if (frame.t !== 'snapshot') return 'none';
    pages.push(frame.page);
    return frame.page === 3 && pages.length === 3 ? 'kill' : 'none';
  };
  const totals = new Set<number>();
  client.subscribe(() => totals.add(client.total()));
  client.connect();
  await world.until(() => client.state === 'resuming');
  world.truth.post('c0', 'u2');
  await world.until(() => client.state === 'live');
  expect(world.sent('hello').at(-1)).toHaveProperty('page');
  expect(pages).toEqual([1, 2, 3, 3, 4, 5]);
  expect([...totals]).toEqual([20, 41]);
  expect(shownBy(client)).toEqual(truthOf(world.truth, 'u1'));
  await client.close();
});

test('[SY7] a catch-up in several frames shows the old numbers until its end', async () => {
  const world = filled(12);
  const client = await world.live('u1');
  client.disconnect();
  for (let i = 0; i < 12; i++) world.truth.post(`c${i}`, 'u2');
  let deltas = 0;
  world.network.fault = ({ t }) => {
    if (t === 'delta') deltas++;
    return 'none';
  };
  const totals = new Set<number>();
  client.subscribe(() => totals.add(client.total()));
  client.connect();
  await world.until(() => client.state === 'live');
  expect(deltas).toBe(3);
  expect([...totals]).toEqual([12, 24]);
  await client.close();
});

test('[SY7] what does not meet its digest is repaired by a snapshot, then by a rebuild, and never shown meanwhile', async () => {
  const world = filled(3);
  const client = await world.live('u1');
  const repairs: string[] = [];
  const answers: string[] = [];
  const totals = new Set<number>();
  client.on('repair', ({ cause, rung }) => repairs.push(`${cause} ${rung}`));
  client.on('synced', ({ mode, reason }) => answers.push(`${mode} ${reason}`));
  client.subscribe(() => totals.add(client.total()));
  const epoch = world.truth.state('u1').epoch;
  let lies = 2;
  world.network.fault = ({ t }) => (t === 'delta' || t === 'snapshot' ? (lies-- > 0 ? 'lie' : 'none') : 'none');
  world.network.falsify = (frame: ServerFrame) =>
    'rows' in frame ? { ...frame, rows: frame.rows.map((row) => ({ ...row, unread: row.unread + 7 })) } : frame;
  world.truth.post('c0', 'u2');
  await world.until(() => client.total() === 4);
  expect(repairs).toEqual(['mismatch 1', 'mismatch 2']);
  expect(answers.slice(0, 2)).toEqual(['snapshot digest', 'snapshot epoch']);
  expect([...totals]).toEqual([3, 4]);
  expect(world.server.divergences).toBe(2);
  expect(world.truth.state('u1').epoch).not.toBe(epoch);
  expect(client.state).toBe('live');
  await client.close();
});

test('[SY7] a server whose digest is never right is asked less and less, and its numbers are shown all the same', async () => {
  const world = filled(3);
  world.network.fault = () => 'lie';
  world.network.falsify = (frame: ServerFrame) => ('digest' in frame ? { ...frame, digest: '000000000000' } : frame);
  const client = world.client('u1');
  client.connect();
  await world.until(() => client.total() === 3, 60_000);
  const first = world.sent('sync').length;
  await world.clock.pass(600_000);
  expect(world.sent('sync').length - first).toBeLessThan(15);
  world.truth.post('c0', 'u2');
  await world.clock.pass(10);
  expect(client.total()).toBe(4);
  await client.close();
});

test('[SY4] a push that was lost is found by the next one, and by the heartbeat when there is no next one', async () => {
  const world = filled(2);
  const client = await world.live('u1');
  const repairs: string[] = [];
  client.on('repair', ({ cause }) => repairs.push(cause));
  let lose = 1;
  world.network.fault = ({ t }) => (t === 'delta' && lose-- > 0 ? 'drop' : 'none');
  world.truth.post('c0', 'u2');
  await world.clock.pass(100);
  expect(client.total()).toBe(2);
  world.truth.post('c1', 'u2');
  await world.until(() => client.total() === 4, 1_000);
  lose = 1;
  world.truth.post('c1', 'u2');
  await world.until(() => client.total() === 5, 26_000);
  expect(repairs).toEqual(['gap', 'behind']);
  await client.close();
});

test('[SY10] a state that was lost under an open socket is replaced at once', async () => {
  const world = filled(9);
  const client = await world.live('u1');
  client.markRead('c0');
  await world.until(() => client.pending().length === 0);
  const answers: unknown[] = [];
  client.on('synced', (answer) => answers.push(answer));
  world.truth.loseState('u1');
  await world.clock.pass(100);
  expect(answers).toEqual([{ mode: 'snapshot', reason: 'epoch' }]);
  expect(client.state).toBe('live');
  expect(shownBy(client)).toEqual(truthOf(world.truth, 'u1'));
  await client.close();
});

test('a frame of a newer server is left out, one that is none ends the socket', async () => {
  const world = filled(2);
  const client = await world.live('u1');
  const errors: string[] = [];
  client.on('error', ({ error }) => errors.push(`${error.code}: ${error.message}`));
  const sockets = world.network;
  world.network.fault = () => 'lie';
  world.network.falsify = (frame) => ({ ...frame, t: 'news' }) as unknown as ServerFrame;
  world.truth.post('c0', 'u2');
  await world.clock.pass(10);
  expect(sockets.opened).toBe(1);
  world.network.falsify = () => [] as unknown as ServerFrame;
  world.truth.post('c0', 'u2');
  await world.until(() => client.state === 'resuming');
  world.network.fault = () => 'none';
  await world.until(() => client.state === 'live');
  expect(client.total()).toBe(4);
  expect(errors).toEqual(['protocol: not a frame']);

  world.network.fault = ({ t }) => (t === 'delta' ? 'lie' : 'none');
  world.network.falsify = (frame) => ({ ...frame, rows: undefined }) as unknown as ServerFrame;
  world.truth.post('c0', 'u2');
  await world.until(() => client.state === 'resuming');
  expect(errors.at(-1)).toMatch(/^protocol: delta: TypeError/);
  world.network.fault = () => 'none';
  await world.until(() => client.total() === 5);
  await client.close();
});
