import { expect, test, vi } from 'vitest';
import type { ForegroundHandler } from '../../../client/index.ts';
import { ClientWorld } from '../../support/client-world.ts';

/** When a client looks where it stands, by what the system tells of attention and network. */

test('foreground, online and offline of the system', async () => {
  let system: ForegroundHandler | null = null;
  const stop = vi.fn<() => void>();
  const world = new ClientWorld();
  const client = await world.live('u1', {
    foreground: (handler) => {
      system = handler;
      return stop;
    },
  });
  const tell = system as unknown as ForegroundHandler;
  const states: string[] = [];
  client.on('state', ({ state }) => states.push(state));
  await world.clock.pass(5_000);
  tell.foreground();
  tell.foreground();
  await world.clock.pass(50);
  expect(world.sent('sync')).toHaveLength(1);
  expect(states).toEqual(['stale', 'live']);
  tell.offline();
  expect(client.state).toBe('offline');
  await world.clock.pass(20_000);
  expect(world.network.opened).toBe(1);
  tell.online();
  await world.until(() => client.state === 'live');
  expect(states.slice(2)).toEqual(['offline', 'resuming', 'live']);

  // A system that is wrong about its network does not keep the client away for ever.
  tell.offline();
  await world.until(() => client.state === 'live', 31_000);
  await client.close();
  expect(stop).toHaveBeenCalledTimes(1);
});

test('ten looks within 5 s are one request, and so is the start', async () => {
  const world = new ClientWorld();
  const client = await world.live('u1');
  for (let i = 0; i < 9; i++) {
    client.sync();
    await world.clock.pass(500);
  }
  expect(world.server.frames.map(({ t }) => t)).toEqual(['hello']);
  await world.clock.pass(500);
  for (let i = 0; i < 10; i++) {
    client.sync();
    await world.clock.pass(490);
  }
  expect(world.server.frames.map(({ t }) => t)).toEqual(['hello', 'sync']);
  client.sync({ force: true });
  await world.clock.pass(50);
  expect(world.sent('sync')).toHaveLength(2);
  await client.close();
});

test('what is asked for is sent when the page is left, whatever is still unanswered', async () => {
  let system: ForegroundHandler | null = null;
  const world = new ClientWorld();
  for (const conv of ['c1', 'c2']) {
    world.truth.create(conv, ['u1', 'u2']);
    world.truth.post(conv, 'u2');
  }
  const client = await world.live('u1', {
    foreground: (handler) => {
      system = handler;
      return () => {};
    },
  });
  const tell = system as unknown as ForegroundHandler;
  world.network.fault = () => 'drop';
  client.markRead('c1');
  await world.clock.pass(10);
  client.markRead('c2');
  await world.clock.pass(10);
  expect(world.truth.sums('u1').total).toBe(1);
  tell.leaving();
  await world.clock.pass(10);
  expect(world.truth.sums('u1').total).toBe(0);
  await client.close();
});

test('a return to the foreground cuts the pause short', async () => {
  const world = new ClientWorld();
  const client = await world.live('u1', { random: () => 0.9 });
  for (let i = 0; i < 5; i++) {
    world.network.killAll();
    await world.until(() => client.state === 'resuming');
    await world.until(() => client.state === 'live');
  }
  world.network.killAll();
  await world.until(() => client.state === 'resuming');
  client.sync();
  await world.until(() => client.state === 'live', 1_000);
  await client.close();
});
