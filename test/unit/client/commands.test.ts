import { describe, expect, test } from 'vitest';
import type { TidemarkClient } from '../../../client/index.ts';
import { RETRYABLE } from '../../../client/sender.ts';
import { errorCodes } from '../../../protocol/error-codes.ts';
import { ClientWorld, shownBy, truthOf } from '../../support/client-world.ts';

async function scene(messages = 3) {
  const world = new ClientWorld();
  for (const conv of ['c1', 'c2', 'c3']) {
    world.truth.create(conv, ['u1', 'u2']);
    for (let i = 0; i < messages; i++) world.truth.post(conv, 'u2', { mentions: i === 0 ? ['u1'] : [] });
  }
  return { world, client: await world.live('u1') };
}

const quiet = async (world: ClientWorld, client: TidemarkClient) => world.until(() => client.pending().length === 0);

describe('what is done shows at once, and is what the server says in the end', () => {
  const deeds: [string, (client: TidemarkClient) => void, object][] = [
    ['markRead', (client) => client.markRead('c1'), { total: 6, badge: 6, mentions: 2 }],
    ['markRead, in part', (client) => client.markRead('c1', { upTo: 2 }), { total: 9, badge: 9, mentions: 3 }],
    ['markUnread', (client) => client.markUnread('c1'), { total: 9, badge: 9, mentions: 3 }],
    ['markUnread, from a seq', (client) => client.markUnread('c1', { fromSeq: 2 }), { total: 9 }],
    ['markAllRead', (client) => client.markAllRead(), { total: 0, badge: 0, mentions: 0 }],
    ['mute', (client) => client.mute('c1'), { total: 9, badge: 7, mentions: 3 }],
    ['hide', (client) => client.hide('c1'), { total: 6, badge: 6, mentions: 2 }],
    ['clear', (client) => client.clear('c1'), { total: 6, badge: 6, mentions: 2 }],
  ];
  test.each(deeds)('%s', async (_name, deed, shown) => {
    const { world, client } = await scene();
    deed(client);
    expect(shownBy(client)).toMatchObject(shown);
    expect(client.pending()).toHaveLength(1);
    await quiet(world, client);
    expect(shownBy(client)).toEqual(truthOf(world.truth, 'u1'));
    await client.close();
  });
});

test('[CN8] a capped row is read to its end', async () => {
  const world = new ClientWorld();
  world.truth.create('c1', ['u1', 'u2'], true);
  for (let i = 0; i < 9; i++) world.truth.post('c1', 'u2');
  const client = await world.live('u1');
  expect(client.get('c1')).toMatchObject({ unread: 5, capped: true });
  client.markRead('c1');
  expect(client.get('c1')).toMatchObject({ unread: 0, capped: false });
  await quiet(world, client);
  expect(client.get('c1')).toMatchObject({ unread: 0, readSeq: 9 });
  expect(world.sent('ack')).toMatchObject([{ items: [{ conv: 'c1', seq: Number.MAX_SAFE_INTEGER }] }]);
  await client.close();
});

test('what is read already is not sent', async () => {
  const { world, client } = await scene();
  client.markRead('c1');
  await quiet(world, client);
  for (let i = 0; i < 5; i++) client.markRead('c1');
  expect(client.pending()).toEqual([]);
  client.markUnread('c1');
  client.markUnread('c1');
  expect(client.pending()).toHaveLength(1);
  client.markRead('c1');
  await quiet(world, client);
  expect(client.get('c1')).toMatchObject({ marked: false, unread: 0 });
  await client.close();
});

test('many acks of one moment are one frame, and of one round trip one more', async () => {
  const { world, client } = await scene();
  for (const upTo of [1, 2]) for (const conv of ['c1', 'c2', 'c3']) client.markRead(conv, { upTo });
  await world.clock.pass(1);
  for (let i = 0; i < 5; i++) {
    client.markRead('c1', { upTo: 3 });
    await world.clock.pass(1);
  }
  await quiet(world, client);
  expect(world.sent('ack')).toHaveLength(2);
  await client.close();
});

test('an answer that does not come holds the next ack up for a second at most', async () => {
  const { world, client } = await scene();
  let lose = true;
  world.network.fault = ({ t }) => (t === 'acked' && lose ? 'drop' : 'none');
  client.markRead('c1');
  await world.clock.pass(10);
  client.markRead('c2');
  await world.clock.pass(900);
  expect(world.sent('ack')).toHaveLength(1);
  await world.clock.pass(200);
  expect(world.sent('ack')).toHaveLength(2);
  // Nothing says that it was lost: after three heartbeats it is sent again.
  lose = false;
  await world.until(() => client.pending().length === 0, 100_000);
  expect(world.truth.sums('u1').total).toBe(3);
  await client.close();
});

test('a command that the server cannot carry out now is tried again when it said, one that it never can is taken back', async () => {
  const { world, client } = await scene();
  const refused: string[] = [];
  client.on('refused', ({ command, code }) => refused.push(`${command.t} ${code}`));
  world.server.refuseWith = { code: 'unavailable', retry_ms: 400 };
  client.markRead('c1');
  await world.clock.pass(300);
  expect(world.sent('ack')).toHaveLength(1);
  expect(client.get('c1')?.unread).toBe(0);
  world.server.refuseWith = null;
  await quiet(world, client);
  expect(world.sent('ack')).toHaveLength(2);

  world.server.refuseWith = { code: 'invalid_field' };
  client.mute('c2');
  expect(client.get('c2')?.muted).toBe(true);
  await quiet(world, client);
  expect(client.get('c2')?.muted).toBe(false);
  expect(refused).toEqual(['prefs invalid_field']);
  await client.close();
});

test('a clock that is set back does not make the pause longer that the server asked for', async () => {
  const { world, client } = await scene();
  world.server.refuseWith = { code: 'unavailable', retry_ms: 400 };
  client.markRead('c1');
  await world.clock.pass(300);
  world.clock.set(-3_600_000);
  world.server.refuseWith = null;
  await quiet(world, client);
  expect(world.sent('ack')).toHaveLength(2);
  await client.close();
});

test('a sync that the server cannot answer is asked again', async () => {
  const { world, client } = await scene();
  world.server.refuseWith = { code: 'rate_limited', retry_ms: 500 };
  client.sync({ force: true });
  await world.clock.pass(100);
  expect(client.state).toBe('stale');
  world.server.refuseWith = null;
  await world.until(() => client.state === 'live', 1_000);
  expect(world.sent('sync')).toHaveLength(2);
  await client.close();
});

test('the codes that are worth another try are those of the table', () => {
  const worth = Object.entries(errorCodes).flatMap(([code, { retry }]) => (retry ? [code] : []));
  expect(RETRYABLE.toSorted()).toEqual(worth.toSorted());
});

test('[AK8] read all leaves what came in between, and a new epoch loses nothing that was read', async () => {
  const { world, client } = await scene();
  world.network.killAll();
  await world.until(() => client.state === 'resuming');
  client.markAllRead();
  world.truth.post('c1', 'u2');
  world.truth.loseState('u1');
  await world.until(() => client.state === 'live');
  await quiet(world, client);
  expect(client.total()).toBe(1);
  expect(shownBy(client)).toEqual(truthOf(world.truth, 'u1'));
  await client.close();
});

test('what is done without a network is done when there is one', async () => {
  const { world, client } = await scene();
  client.disconnect();
  client.markRead('c1');
  client.mute('c2');
  client.markUnread('c3', { fromSeq: 2 });
  expect([client.total(), client.state]).toEqual([6, 'idle']);
  client.connect();
  await quiet(world, client);
  expect(shownBy(client)).toEqual(truthOf(world.truth, 'u1'));
  expect(client.get('c3')).toMatchObject({ readSeq: 1, unread: 2 });
  await client.close();
});

test('[DT6] the last ack before a clean close is carried out', async () => {
  const { world, client } = await scene();
  client.markRead('c1');
  await client.close();
  await world.clock.pass(100);
  expect(world.truth.sums('u1').total).toBe(6);
});

test('a conversation that this device does not hold needs a seq', async () => {
  const { world, client } = await scene();
  expect(() => client.markRead('nowhere')).toThrow('upTo');
  expect(() => client.clear('nowhere')).toThrow('upTo');
  const confirmed: unknown[] = [];
  client.on('confirmed', ({ command, status }) => confirmed.push([command.t, status]));
  client.markRead('nowhere', { upTo: 4 });
  await quiet(world, client);
  expect(confirmed).toEqual([['ack', 'unknown']]);
  const fresh = world.client('u1');
  expect(() => fresh.markAllRead()).toThrow('not synced');
  await Promise.all([client.close(), fresh.close()]);
});

test('a wrong argument is named, and changes nothing', async () => {
  const { world, client } = await scene();
  const wrong: [() => void, string, string][] = [
    [() => client.markRead(7 as unknown as string), 'conv', 'text of 1 to 128 bytes'],
    [() => client.mute(''), 'conv', 'text of 1 to 128 bytes'],
    [() => client.hide('\ud800'), 'conv', 'text of 1 to 128 bytes'],
    [() => client.clear('é'.repeat(65)), 'conv', 'text of 1 to 128 bytes'],
    [() => client.markRead('c1', { upTo: -1 }), 'upTo', 'an integer from 0 to 2^53-1'],
    [() => client.clear('c1', { upTo: 1.5 }), 'upTo', 'an integer from 0 to 2^53-1'],
    [() => client.markUnread('c1', { fromSeq: 0 }), 'fromSeq', 'an integer from 1 to 2^53-1'],
  ];
  for (const [deed, field, what] of wrong) {
    const thrown = { name: 'TidemarkError', code: 'invalid_argument', field, message: `${field} must be ${what}` };
    expect(deed).toThrow(expect.objectContaining(thrown) as Error);
  }
  expect(client.pending()).toEqual([]);
  expect(client.total()).toBe(9);
  await client.close();
  await world.clock.pass(10);
});

test('[AK7] isUnread goes by the floor', async () => {
  const { world, client } = await scene();
  client.markRead('c1', { upTo: 2 });
  expect([2, 3].map((seq) => client.isUnread('c1', seq))).toEqual([false, true]);
  client.markUnread('c1', { fromSeq: 2 });
  expect([1, 2].map((seq) => client.isUnread('c1', seq))).toEqual([false, true]);
  expect(client.get('c1')?.marked).toBe(true);
  await quiet(world, client);
  expect([1, 2].map((seq) => client.isUnread('c1', seq))).toEqual([false, true]);
  expect(client.isUnread('nowhere', 1)).toBe(false);
  await client.close();
});
