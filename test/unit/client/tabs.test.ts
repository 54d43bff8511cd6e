import { isDeepStrictEqual } from 'node:util';
import { expect, test, vi } from 'vitest';
import type { ClientOptions, TidemarkClient } from '../../../client/index.ts';
import { memoryBackend, persisted } from '../../../client/persistence.ts';
import type { Stored } from '../../../client/persistence.ts';
import { acrossTabs } from '../../../client/tabs/across-tabs.ts';
import { ClientWorld, shownBy, truthOf } from '../../support/client-world.ts';

/** The tabs are of one process; their channel and their locks are the real ones, their network and their clock are not. */
function scene() {
  const world = new ClientWorld();
  for (const conv of ['c1', 'c2', 'c3']) {
    world.truth.create(conv, ['u1', 'u2']);
    world.truth.post(conv, 'u2');
  }
  const name = `tabs-${Math.random()}`;
  const tab = (more: Partial<ClientOptions> = {}, user = 'u1'): TidemarkClient => {
    const own = {
      url: 'https://example.test',
      getToken: () => world.token(user),
      WebSocket: world.network.WebSocket,
      clock: world.clientClock,
      random: world.random,
      ...more,
    };
    const client = world.client(user, acrossTabs(own, { name }));
    client.connect();
    return client;
  };
  /** Messages between tabs take real time, which the virtual clock does not wait for. */
  const until = async (condition: () => boolean) => {
    for (let i = 0; i < 2_000 && !condition(); i++) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      await world.clock.pass(5);
    }
    expect(condition()).toBe(true);
  };
  const right = (...clients: TidemarkClient[]) => {
    const truth = JSON.stringify(truthOf(world.truth, 'u1'));
    return clients.every((client) => client.state === 'live' && JSON.stringify(shownBy(client)) === truth);
  };
  return { world, name, tab, until, right };
}

test('tabs share one socket: numbers, commands and answers go through it', async () => {
  const { world, tab, until, right } = scene();
  const first = tab();
  await until(() => right(first));
  const second = tab();
  await until(() => right(first, second));
  expect(world.network.opened).toBe(1);
  second.markRead('c1');
  expect(second.get('c1')?.unread).toBe(0);
  await until(() => second.pending().length === 0 && right(first, second));
  world.truth.post('c2', 'u2', { mentions: ['u1'] });
  world.truth.leave('c3', 'u1');
  await until(() => right(first, second));
  first.markAllRead();
  await until(() => second.total() === 0 && right(first, second));
  expect(world.network.opened).toBe(1);
  expect(world.sent('hello')).toHaveLength(1);
  await Promise.all([first.close(), second.close()]);
});

test('the tab that leads goes away: the others resume, and what they had asked for is sent again', async () => {
  const { world, tab, until, right } = scene();
  const tabs = [tab()];
  await until(() => right(...tabs));
  tabs.push(tab(), tab());
  await until(() => right(...tabs));
  const [first, ...others] = tabs;
  for (const [i, other] of others.entries()) other.markRead(`c${i + 1}`);
  await first?.close();
  await until(() => others.every((other) => other.pending().length === 0) && right(...others));
  expect(others[0]?.total()).toBe(1);
  expect(world.network.opened).toBe(2);
  world.network.killAll();
  world.truth.post('c3', 'u2');
  await until(() => right(...others));
  for (const other of others) await other.close();
});

test('what the tab that led had asked for without a network is done by the next one', async () => {
  const { world, tab, until, right } = scene();
  const backend = memoryBackend();
  const stored = () => ({ store: persisted(backend, () => expect.unreachable()) });
  const first = tab(stored());
  await until(() => right(first));
  const second = tab(stored());
  await until(() => right(first, second));
  world.network.down = true;
  world.network.killAll();
  await until(() => first.state === 'resuming');
  first.markRead('c1');
  first.mute('c2');
  await until(() => first.pending().length === 2);
  await first.close();
  world.network.down = false;
  await until(() => world.truth.sums('u1').badge === 1 && right(second) && second.pending().length === 0);
  expect(second.get('c2')?.muted).toBe(true);
  expect(second.total()).toBe(2);
  await second.close();
  expect(await backend.load()).toMatchObject({ commands: [] });
});

test('[AK4] what a tab that follows has asked for without a network is kept, and done by the one that leads when it is closed', async () => {
  const { world, tab, until, right } = scene();
  const backend = memoryBackend();
  const stored = () => ({ store: persisted(backend, () => expect.unreachable()) });
  const keptConvs = async () => ((await backend.load()) as Stored).commands.map((one) => 'conv' in one && one.conv);
  const first = tab(stored());
  await until(() => right(first));
  const second = tab(stored());
  await until(() => right(first, second));
  world.network.down = true;
  world.network.killAll();
  await until(() => first.state === 'resuming' && second.state === 'resuming');
  second.markRead('c1');
  first.markRead('c2');
  await expect.poll(keptConvs).toEqual(['c1', 'c2']);
  expect(first.get('c1')?.unread).toBe(1);
  await second.close();
  await until(() => first.get('c1')?.unread === 0);
  expect(await keptConvs()).toEqual(['c1', 'c2']);
  world.network.down = false;
  await until(() => right(first) && first.pending().length === 0);
  expect(first.total()).toBe(1);
  await first.close();
  expect(await keptConvs()).toEqual([]);
});

test('tabs that come and go without a network do not make more of what is asked for', async () => {
  const { world, tab, until, right } = scene();
  const backend = memoryBackend();
  const stored = () => ({ store: persisted(backend, () => expect.unreachable()) });
  const first = tab(stored());
  await until(() => right(first));
  world.network.down = true;
  world.network.killAll();
  await until(() => first.state === 'resuming');
  first.markUnread('c1');
  first.hide('c2');
  const keeps = async (commands: number) =>
    expect.poll(async () => ((await backend.load()) as Stored).commands.length).toBe(commands);
  await keeps(2);
  for (let i = 0; i < 3; i++) {
    const next = tab(stored());
    await until(() => next.pending().length === (i === 0 ? 2 : 3));
    if (i === 0) next.markUnread('c3');
    await next.close();
    await until(() => first.pending().length === 3);
  }
  await keeps(3);
  world.network.down = false;
  await until(() => right(first) && first.pending().length === 0);
  await first.close();
});

test('without Web Locks each tab is a device of its own and keeps nothing', async () => {
  const { world, tab, until, right } = scene();
  vi.stubGlobal('navigator', {});
  const store = { load: vi.fn<() => Promise<null>>(), save: vi.fn<() => void>(), clear: vi.fn<() => void>() };
  const tabs = [1, 2].map(() => tab({ store: { ...store, settled: async () => {} } }));
  vi.unstubAllGlobals();
  await until(() => right(...tabs));
  expect(world.network.opened).toBe(2);
  expect(new Set((world.sent('hello') as { device: string }[]).map(({ device }) => device)).size).toBe(2);
  expect(store.save).not.toHaveBeenCalled();
  for (const one of tabs) await one.close();
});

test('tabs of another user share nothing: each has its own numbers, and what it asks for is its own', async () => {
  const { world, tab, until, right } = scene();
  world.truth.create('c1', ['u1', 'u2', 'u3']);
  world.truth.post('c1', 'u2');
  const backend = memoryBackend();
  const stored = () => ({ store: persisted(backend, () => expect.unreachable()) });
  const first = tab(stored());
  await until(() => right(first));
  const others = [tab({}, 'u3'), tab({}, 'u3')];
  const rightOthers = () =>
    others.every((one) => one.state === 'live' && isDeepStrictEqual(shownBy(one), truthOf(world.truth, 'u3')));
  await until(rightOthers);
  expect(others.map(({ user }) => user)).toEqual(['u3', 'u3']);
  others[0]?.markRead('c1');
  others[1]?.markUnread('c1');
  await until(() => others.every((one) => one.pending().length === 0) && rightOthers() && right(first));
  expect(first.get('c1')).toMatchObject({ unread: 1, marked: false });
  // Three tabs, three sockets, and none of them was replaced by another.
  expect(world.network.opened).toBe(3);
  world.network.down = true;
  world.network.killAll();
  await until(() => others.every(({ state }) => state === 'resuming'));
  others[0]?.mute('c1');
  for (const other of others) await other.close();
  world.network.down = false;
  await until(() => right(first));
  await first.close();
  expect(await backend.load()).toMatchObject({ user: 'u1', commands: [] });
});

test('a user who is sent away does not take the tabs of another one along', async () => {
  const { world, tab, until } = scene();
  const token = Promise.withResolvers<string>();
  const tokens: (string | Promise<string>)[] = [world.token('u1'), token.promise];
  const first = tab({ getToken: () => tokens.shift() ?? null });
  await until(() => first.state === 'live');
  world.server.closeAll(4200);
  await until(() => tokens.length === 0);
  const second = tab({}, 'u3');
  await until(() => second.state === 'connecting');
  token.resolve(world.token('nobody'));
  await until(() => second.state === 'live');
  expect(first.stopped).toMatchObject({ code: 4401 });
  expect(second.user).toBe('u3');
  for (const one of [first, second]) await one.close();
});

test('what other versions say to each other, or anything else of the origin, changes nothing', async () => {
  const { world, name, tab, until, right } = scene();
  const first = tab();
  await until(() => right(first));
  const second = tab();
  await until(() => right(first, second));
  const crashes: unknown[] = [];
  const crash = (error: unknown) => crashes.push(error);
  process.on('uncaughtException', crash);
  for (const one of [first, second]) one.on('error', crash);
  const channel = new BroadcastChannel(name);
  const strange = [
    null,
    42,
    'elected',
    [],
    {},
    { to: null },
    { to: null, say: 'promoted' },
    { to: 's1' },
    { from: 's1' },
  ];
  for (const message of strange) channel.postMessage(message);
  const from = 's-other';
  for (const say of [null, 7, {}, { t: 7 }, { t: 'pin', conv: 'c1' }, { t: 'hello', token: 7, cursor: 8 }, 'unknown']) {
    for (const said of ['open', say]) channel.postMessage({ from, say: said });
  }
  for (const undone of [undefined, null, 7, [null], [{ t: 'pin', conv: 'c1' }]]) {
    channel.postMessage({ tab: 't-other', user: 'u1', undone, isGone: true });
  }
  second.markRead('c1');
  world.truth.post('c2', 'u2');
  await until(() => second.pending().length === 0 && right(first, second));
  process.off('uncaughtException', crash);
  channel.close();
  expect(crashes).toEqual([]);
  expect(world.network.opened).toBe(1);
  for (const one of [first, second]) await one.close();
});
