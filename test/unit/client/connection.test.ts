import { expect, test, vi } from 'vitest';
import { TidemarkError } from '../../../client/index.ts';
import type { TidemarkClient } from '../../../client/index.ts';
import { systemClock } from '../../../client/ports.ts';
import { closeCodes } from '../../../protocol/close-codes.ts';
import type { Hello } from '../../../protocol/client-frames.ts';
import { ClientWorld, shownBy, truthOf } from '../../support/client-world.ts';

function statesOf(client: TidemarkClient): string[] {
  const states: string[] = [];
  client.on('state', ({ state }) => states.push(state));
  return states;
}

test('states of a first connection, and nothing is left after close()', async () => {
  const world = new ClientWorld();
  for (let i = 0; i < 11; i++) world.truth.create(`c${i}`, ['u1', 'u2']);
  for (let i = 0; i < 11; i++) world.truth.post(`c${i}`, 'u2', { mentions: i % 2 === 0 ? ['u1'] : [] });
  const client = world.client('u1');
  const states = statesOf(client);
  expect(client.state).toBe('idle');
  client.connect();
  client.connect();
  await world.until(() => client.state === 'live');
  expect(states).toEqual(['connecting', 'syncing', 'live']);
  expect(world.network.opened).toBe(1);
  expect(shownBy(client)).toEqual(truthOf(world.truth, 'u1'));
  await client.close();
  await client.close();
  expect(client.stopped).toEqual({ code: 1000, reason: 'closed by the app', retryable: false });
  expect(world.clientClock.timers()).toBe(0);
  expect(() => client.connect()).toThrow(TidemarkError);
  expect(() => client.markRead('c1')).toThrow(TidemarkError);
  await world.clock.pass(100_000);
  expect(states.at(-1)).toBe('stopped');
});

test('the close code decides: at once, back-off, a new token, never', async () => {
  const waits: Record<string, number | string> = {};
  for (const code of [...Object.keys(closeCodes).map(Number), 1000, 1001, 1006, 4555]) {
    const world = new ClientWorld();
    const client = await world.live('u1');
    await world.clock.pass(10_000);
    const asked = world.tokensAsked.length;
    world.server.closeAll(code);
    await world.until(() => client.state !== 'live');
    const lostAt = world.clock.nowMs();
    await world.until(() => world.network.opened === 2 || client.state === 'stopped');
    const newToken = world.tokensAsked.length > asked ? ', new token' : '';
    const { stopped } = client;
    const how = world.clock.nowMs() - lostAt < 500 ? 'at once' : 'back-off';
    waits[code] = stopped === null ? how + newToken : stopped.retryable ? 'stopped, retryable' : 'stopped';
    await client.close();
  }
  expect(waits).toEqual({
    1000: 'back-off',
    1001: 'back-off',
    1006: 'back-off',
    4000: 'at once',
    4001: 'at once',
    4100: 'back-off',
    4101: 'back-off',
    4102: 'back-off',
    4103: 'back-off',
    4200: 'at once, new token',
    4400: 'stopped',
    4401: 'stopped, retryable',
    4402: 'stopped, retryable',
    4403: 'stopped',
    4404: 'stopped, retryable',
    4405: 'stopped',
    4555: 'back-off',
  });
});

test('retry_ms comes first, and no return to the foreground cuts it short', async () => {
  const world = new ClientWorld();
  const client = await world.live('u1');
  world.server.closeAll(4000, 20_000);
  await world.until(() => client.state === 'resuming');
  await world.clock.pass(10_000);
  client.sync({ force: true });
  await world.clock.pass(9_900);
  expect(world.network.opened).toBe(1);
  await world.clock.pass(200);
  expect(world.network.opened).toBe(2);
  await client.close();
});

test('pauses grow while sockets open and break at once, and start anew after 10 s of a verified state', async () => {
  const world = new ClientWorld();
  const client = world.client('u1', { random: () => 1 });
  const pauses: number[] = [];
  let lostAt = 0;
  client.on('state', ({ state }) => {
    if (state === 'resuming') lostAt = world.clock.nowMs();
    if (state === 'live' && lostAt > 0) pauses.push(Math.round((world.clock.nowMs() - lostAt) / 1000));
  });
  client.connect();
  for (let i = 0; i < 7; i++) {
    await world.until(() => client.state === 'live');
    await world.clock.pass(9_000);
    world.network.killAll();
    await world.until(() => client.state === 'resuming');
  }
  await world.until(() => client.state === 'live');
  expect(pauses).toEqual([1, 2, 4, 8, 16, 30, 30]);
  await world.clock.pass(10_000);
  world.network.killAll();
  await world.until(() => client.state === 'resuming');
  await world.until(() => client.state === 'live');
  expect(pauses.at(-1)).toBe(1);
  await client.close();
});

test('attempt rises with every socket, and a page that is loaded again is not older than the one before', async () => {
  const world = new ClientWorld();
  const attempts = () => (world.sent('hello') as Hello[]).map(({ attempt }) => attempt ?? 0);
  const first = await world.live('u1', { device: 'd1' });
  for (let i = 0; i < 3; i++) {
    world.network.killAll();
    await world.until(() => first.state === 'resuming');
    await world.until(() => first.state === 'live');
  }
  await first.close();
  const second = await world.live('u1', { device: 'd1' });
  await second.close();
  expect(attempts()).toHaveLength(5);
  expect(attempts()).toEqual(attempts().toSorted((a, b) => a - b));
  expect(new Set(attempts()).size).toBe(5);
  expect(new Set((world.sent('hello') as Hello[]).map(({ device }) => device))).toEqual(new Set(['d1']));
});

test('a hello that nobody answers, and a socket that never opens, are given up after 10 s', async () => {
  const world = new ClientWorld();
  world.network.down = true;
  const client = world.client('u1');
  client.connect();
  await world.until(() => world.network.opened === 2);
  expect(client.state).toBe('connecting');
  world.network.down = false;
  await world.until(() => client.state === 'live');
  await client.close();
});

test('a dead line is found by its silence; what is on show stays', async () => {
  const world = new ClientWorld();
  world.truth.create('c1', ['u1', 'u2']);
  world.truth.post('c1', 'u2');
  const client = await world.live('u1');
  await world.clock.pass(5_000);
  world.network.down = true;
  await world.until(() => client.state === 'resuming', 34_000);
  expect(client.total()).toBe(1);
  world.network.down = false;
  world.truth.post('c1', 'u2');
  await world.until(() => client.total() === 2);
  await client.close();
});

test('back from sleep: asks first, and opens a new socket when nothing comes within 2 s', async () => {
  const world = new ClientWorld();
  const client = await world.live('u1');
  world.clock.sleep(600_000);
  await world.clock.pass(20);
  expect(world.sent('sync')).toHaveLength(1);
  expect([client.state, world.network.opened]).toEqual(['live', 1]);
  world.network.down = true;
  world.clock.sleep(600_000);
  await world.clock.pass(1_990);
  expect(client.state).toBe('stale');
  world.network.down = false;
  await world.clock.pass(20);
  expect(client.state).toBe('resuming');
  await world.until(() => client.state === 'live');
  expect(world.network.opened).toBe(2);
  await client.close();
});

test('tokens: in band before they end, a new one after 4200, stopped after two new ones were refused', async () => {
  const world = new ClientWorld({ tokenMs: 60_000 });
  const client = await world.live('u1');
  await world.clock.pass(300_000);
  expect([client.state, world.network.opened]).toEqual(['live', 1]);
  expect(world.sent('auth').length).toBeGreaterThanOrEqual(5);
  expect(new Set(world.tokensAsked)).toEqual(new Set(['connect', 'refresh']));
  await client.close();

  const late = await world.live('u1', {
    getToken: () => world.token('u1').replace(/\d+$/, `${world.clock.nowMs() + 5_000}`),
  });
  world.clock.sleep(10_000);
  await world.clock.pass(2_500);
  await world.until(() => late.state === 'live');
  await late.close();

  const refused = world.client('u1', { getToken: () => `u1 ${world.clock.nowMs() - 1}` });
  refused.connect();
  await world.until(() => refused.state === 'stopped');
  expect(refused.stopped).toMatchObject({ code: 4200, retryable: true });
  await refused.close();
});

test('no token: an error is tried again, null stops, and connect() starts afresh', async () => {
  const world = new ClientWorld();
  let answer: () => string | null = () => {
    throw new Error('away');
  };
  const client = world.client('u1', { getToken: () => answer() });
  const errors: unknown[] = [];
  client.on('error', ({ error }) => errors.push(error.cause));
  client.connect();
  await world.until(() => errors.length === 3);
  expect(errors[0]).toEqual(new Error('away'));
  expect(client.state).toBe('connecting');
  answer = () => null;
  await world.until(() => client.state === 'stopped');
  expect(client.stopped).toEqual({ code: 4401, reason: 'no token', retryable: true });
  answer = () => world.token('u1');
  client.connect();
  await world.until(() => client.state === 'live');
  expect(client.stopped).toBeNull();
  await client.close();
});

test('disconnect while a token is being fetched, and the token then comes: no socket', async () => {
  const world = new ClientWorld();
  const fetched = Promise.withResolvers<string>();
  const client = world.client('u1', { getToken: () => fetched.promise });
  client.connect();
  client.disconnect();
  fetched.resolve(world.token('u1'));
  await world.clock.pass(1_000);
  expect([client.state, world.network.opened]).toEqual(['idle', 0]);
  client.connect();
  await world.until(() => client.state === 'live');
  await client.close();
});

test('waitFor: resolves, rejects when the client stops, and on its signal', async () => {
  const world = new ClientWorld();
  const client = world.client('u1');
  const live = client.waitFor('live');
  client.connect();
  await world.clock.pass(100);
  await live;
  const abort = new AbortController();
  const aborted = client.waitFor(() => client.total() > 0, { signal: abort.signal });
  abort.abort(new Error('enough'));
  await expect(aborted).rejects.toThrow('enough');
  const stopped = client.waitFor('offline');
  const closing = client.close();
  await expect(stopped).rejects.toThrow('closed by the app');
  await closing;
});

test('the address: http becomes ws, a bare host means the standard path', async () => {
  const opened: string[] = [];
  const world = new ClientWorld();
  const Parent = world.network.WebSocket;
  class Noted extends Parent {
    constructor(url: string, protocols: string[]) {
      super(url, protocols);
      opened.push(`${url} ${protocols.join()}`);
    }
  }
  for (const url of ['https://example.test', 'http://example.test:8080/', 'wss://example.test/chat/ws?x=1']) {
    const client = await world.live('u1', { url, WebSocket: Noted });
    await client.close();
  }
  expect(opened).toEqual([
    'wss://example.test/v1/ws tidemark.v1.json',
    'ws://example.test:8080/v1/ws tidemark.v1.json',
    'wss://example.test/chat/ws?x=1 tidemark.v1.json',
  ]);
  expect(() => world.client('u1', { url: 'no address' })).toThrow('Invalid URL');
  expect(() => world.client('u1', { url: 'ftp://example.test' })).toThrow('url must be http');
});

test('a delay of a month does not make a timer of the system fire at once', async () => {
  const fired = vi.fn<() => void>();
  const cancel = systemClock.after(30 * 86_400_000, fired);
  await new Promise((resolve) => setTimeout(resolve, 20));
  cancel();
  expect(fired).not.toHaveBeenCalled();
});

test('a WebSocket that cannot even be made is an error, and tried again with back-off', async () => {
  const world = new ClientWorld();
  let fails = 2;
  const Line = world.network.WebSocket;
  class Blocked extends Line {
    constructor(url: string, protocols: string[]) {
      if (fails-- > 0) throw new Error('blocked by a policy');
      super(url, protocols);
    }
  }
  const client = world.client('u1', { WebSocket: Blocked });
  const errors: unknown[] = [];
  client.on('error', ({ error }) => errors.push([error.code, error.cause]));
  const beganAt = world.clock.nowMs();
  client.connect();
  await world.until(() => client.state === 'live');
  const blocked = ['socket', new Error('blocked by a policy')];
  expect(errors).toEqual([blocked, blocked]);
  expect(world.clock.nowMs() - beganAt).toBeGreaterThanOrEqual(1_000);
  await client.close();
  expect(world.clientClock.timers()).toBe(0);
});
