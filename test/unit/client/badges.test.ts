import { expect, test } from 'vitest';
import { showInTitle, showOnIcon } from '../../../client/badges.ts';
import { formatUnread } from '../../../client/format.ts';
import { keepRead } from '../../../client/reading.ts';
import { ClientWorld } from '../../support/client-world.ts';

test.each([
  [0, 99, ''],
  [1, 99, '1'],
  [99, 99, '99'],
  [100, 99, '99+'],
  [100, 999, '100'],
  [999, 999, '999'],
  [1_000, 999, '999+'],
  [{ unread: 999, capped: true }, 999, '999+'],
  [{ unread: 999, capped: false }, 999, '999'],
  [{ unread: 999, capped: true }, 99, '99+'],
])('[CN8] %o with room for %i is %o', (count, max, text) => {
  expect(formatUnread(count, { max })).toBe(text);
});

async function scene() {
  const world = new ClientWorld();
  world.truth.create('c1', ['u1', 'u2']);
  world.truth.post('c1', 'u2');
  const client = await world.live('u1');
  return { world, client };
}

test('the title and the icon carry the badge, and are left as they were found', async () => {
  const { world, client } = await scene();
  const document = { title: 'Chat' };
  const icon: (number | string)[] = [];
  const navigator = {
    setAppBadge: async (count?: number) => void icon.push(count ?? 'dot'),
    clearAppBadge: () => Promise.reject(new Error('not allowed')),
  };
  const failed: unknown[] = [];
  const stops = [
    showInTitle(client, document),
    showOnIcon(client, { navigator, failed: (error) => failed.push(error) }),
  ];
  expect(document.title).toBe('(1) Chat');
  document.title = 'Chat – Ann';
  world.truth.post('c1', 'u2');
  await world.until(() => client.total() === 2);
  expect([document.title, icon]).toEqual(['(2) Chat – Ann', [1, 2]]);
  client.markRead('c1');
  expect(document.title).toBe('Chat – Ann');
  await world.until(() => client.pending().length === 0);
  world.truth.post('c1', 'u2');
  await world.until(() => client.total() === 1);
  for (const stop of stops) stop();
  expect(document.title).toBe('Chat – Ann');
  await world.clock.pass(0);
  expect([icon, failed]).toEqual([
    [1, 2, 1],
    [new Error('not allowed'), new Error('not allowed')],
  ]);
  await client.close();
});

test('an open conversation is read as messages come, and nothing is acked while nobody sees it', async () => {
  const { world, client } = await scene();
  let isSeen = false;
  let changed = () => {};
  const attention = {
    isSeen: () => isSeen,
    listen: (listener: () => void) => {
      changed = listener;
      return () => (changed = () => {});
    },
  };
  const close = keepRead(client, 'c1', attention);
  world.truth.post('c1', 'u2');
  await world.until(() => client.total() === 2);
  await world.clock.pass(1_000);
  expect(world.sent('ack')).toEqual([]);
  isSeen = true;
  changed();
  await world.until(() => client.pending().length === 0);
  world.truth.post('c1', 'u2');
  await world.until(() => client.get('c1')?.headSeq === 3 && client.pending().length === 0);
  expect(client.get('c1')).toMatchObject({ unread: 0, readSeq: 3 });
  close();
  world.truth.post('c1', 'u2');
  await world.until(() => client.total() === 1);
  expect(client.firstUnread('c1')).toBe(4);
  await client.close();
});

test('the first unread message is above the floor; there is none where all is read', async () => {
  const { world, client } = await scene();
  expect([client.firstUnread('c1'), client.firstUnread('c9')]).toEqual([1, null]);
  client.markRead('c1');
  expect(client.firstUnread('c1')).toBeNull();
  await world.until(() => client.pending().length === 0);
  await client.close();
});
