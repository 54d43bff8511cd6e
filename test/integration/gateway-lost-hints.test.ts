import { expect, onTestFinished, test } from 'vitest';
import { openGatewayBench } from '../support/gateway-bench.ts';
import { createHandClock } from '../support/hand-clock.ts';
import { MemoryFences } from '../support/memory-fences.ts';
import { openRedisNode } from '../support/redis-node.ts';
import { startRedis } from '../support/redis.ts';

/** Far above what a test takes: nothing here is found by the background comparison. */
const HEARTBEAT_MS = 600_000;

test('[SY10] the state of a connected user is lost: the next change finds out, and the device gets a snapshot without waiting for a heartbeat', async () => {
  const bench = await openGatewayBench({ settings: { heartbeatMs: HEARTBEAT_MS } });
  await bench.accept({ type: 'conversation.created', conv: 'c', members: ['ann', 'bob'] });
  const { socket, welcome } = await bench.connect('ann', 'phone');
  await bench.state.drop('ann');
  await bench.say('c', 'bob', 2);
  const synced = await socket.next('synced');
  expect(synced).toMatchObject({ mode: 'snapshot', reason: 'epoch', total: 2 });
  expect(synced['epoch']).not.toBe(welcome['epoch']);
  expect(await socket.next('snapshot')).toMatchObject({ rows: [{ conv: 'c', unread: 2 }], end: true });
});

test('[SY4] wake-ups were lost, and it is known: everybody is compared at once and gets what it lacks', async () => {
  const bench = await openGatewayBench({ settings: { heartbeatMs: HEARTBEAT_MS } });
  const users = ['ann', 'cem', 'dan'];
  await bench.accept({ type: 'conversation.created', conv: 'c', members: [...users, 'bob'] });
  const sockets = await Promise.all(users.map(async (user) => (await bench.connect(user, 'phone')).socket));
  bench.wakeup.isLosing = true;
  await bench.say('c', 'bob', 3);
  bench.wakeup.isLosing = false;
  expect(sockets.flatMap(({ log }) => log.filter(({ t }) => t === 'delta'))).toEqual([]);
  bench.gateway.listener.missed?.();
  for (const socket of sockets) expect(await socket.next('delta')).toMatchObject({ total: 3 });
});

test('[SY4] wake-ups are lost again and again: who says so all the time does not put the comparison off', async () => {
  const clock = createHandClock();
  const bench = await openGatewayBench({ clock, settings: { heartbeatMs: HEARTBEAT_MS } });
  await bench.accept({ type: 'conversation.created', conv: 'c', members: ['ann', 'bob'] });
  const { socket } = await bench.connect('ann', 'phone');
  bench.wakeup.isLosing = true;
  await bench.say('c', 'bob', 3);
  for (let i = 0; i < 10; i++) {
    bench.gateway.listener.missed?.();
    await clock.pass(100);
  }
  await expect.poll(() => socket.log.filter(({ t }) => t === 'delta')).toMatchObject([{ total: 3 }]);
});

test('[SY4] Redis: who did not listen for a moment is told so; what could not be published is said again', async () => {
  const redis = await startRedis();
  const fences = new MemoryFences();
  const [near, far] = await Promise.all([openRedisNode(redis.url, fences), openRedisNode(redis.url, fences)]);
  onTestFinished(async () => {
    await Promise.all([near.close(), far.close()]);
    await redis.stop();
  });
  const missing: string[] = [];
  let missed = 0;
  far.wakeup.subscribe({
    changes: () => {},
    large: () => {},
    disconnect: () => {},
    missed: (users) => (users === undefined ? void missed++ : void missing.push(...users)),
  });
  await near.wakeup.publishMissing(['ann']);
  await expect.poll(() => missing).toEqual(['ann']);
  // On both channels of the node, since others may have kept something to themselves when it began to listen.
  await expect.poll(() => missed).toBe(2);
  await redis.admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  // At once, and once more for that reason.
  await expect.poll(() => missed).toBeGreaterThanOrEqual(6);
  await redis.admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  await near.wakeup.publishMissing(['bob']);
  await expect.poll(() => missing).toContain('bob');
});
