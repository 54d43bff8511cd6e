import { expect, test } from 'vitest';
import { ClientWorld, shownBy, truthOf } from '../../support/client-world.ts';

test('[SY2][SY6] a first connection goes idle, connecting, syncing, live and shows what the server holds', async () => {
  const world = new ClientWorld();
  for (let i = 0; i < 11; i++) world.truth.create(`c${i}`, ['u1', 'u2']);
  for (let i = 0; i < 11; i++) world.truth.post(`c${i}`, 'u2', { mentions: i % 2 === 0 ? ['u1'] : [] });
  const client = world.client('u1');
  const states: string[] = [client.state];
  client.on('state', ({ state }) => states.push(state));
  client.connect();
  await world.until(() => client.state === 'live');
  expect(states).toEqual(['idle', 'connecting', 'syncing', 'live']);
  expect(shownBy(client)).toEqual(truthOf(world.truth, 'u1'));
  expect(client.total()).toBe(11);
  expect(client.mentions()).toBe(6);
  await client.close();
  expect(client.stopped).toEqual({ code: 1000, reason: 'closed by the app', retryable: false });
  expect(world.clientClock.timers()).toBe(0);
});
