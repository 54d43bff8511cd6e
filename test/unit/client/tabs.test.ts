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
  const tab = (more: Partial<ClientOptions> = {}): TidemarkClient => {
    const own = {
      url: 'https://example.test',
      getToken: () => world.token('u1'),
      WebSocket: world.network.WebSocket,
      clock: world.clientClock,
      random: world.random,
      ...more,
    };
    const client = world.client('u1', acrossTabs(own, { name }));
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
  return { world, tab, until, right };
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
  await vi.waitFor(async () => expect(await keptConvs()).toEqual(['c1', 'c2']));
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
    vi.waitFor(async () => expect(((await backend.load()) as Stored).commands).toHaveLength(commands));
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
