import { expect, test } from 'vitest';
import { createMemoryWakeup } from '../../src/state/memory-wakeup.ts';
import { wakeupContract } from './wakeup.ts';

wakeupContract('memory', async () => {
  const wakeup = createMemoryWakeup();
  return { sender: wakeup, receiver: wakeup, close: async () => wakeup.close() };
});

test('after close nobody is woken', async () => {
  const wakeup = createMemoryWakeup();
  const heard: string[] = [];
  wakeup.subscribe({ changes: () => {}, large: () => {}, disconnect: (user) => heard.push(user) });
  await wakeup.publishDisconnect('ann', null);
  await wakeup.close();
  await wakeup.publishDisconnect('bob', null);
  expect(heard).toEqual(['ann']);
});
