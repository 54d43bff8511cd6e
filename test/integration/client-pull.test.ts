import { expect, test } from 'vitest';
import type { ClientClock } from '../../client/index.ts';
import { systemClock } from '../../client/ports.ts';
import { pullingWhenBlocked } from '../../client/pull.ts';
import { countedIn, shownOf, signedToken, startProduct, until } from '../support/product.ts';

/** The default. */
const SOCKET_AGAIN_MS = 300_000;

test('[DT7] where sockets are blocked the numbers come over HTTP, and commands wait for a socket', async () => {
  const product = await startProduct();
  // More than one page.
  const convs = Array.from({ length: 250 }, (_, i) => `c${i}`);
  const message = (conv: string, id: string) => ({
    type: 'message.created',
    conv,
    message_id: `${conv}-${id}`,
    sender: 'u2',
    members: ['u1', 'u2'],
  });
  await product.post(...convs.map((conv) => message(conv, 'a')));
  let blocked = true;
  let opened = 0;
  class Blockable extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(blocked ? 'ws://127.0.0.1:9' : url, protocols);
      opened++;
    }
  }
  const options = { url: product.url, getToken: () => signedToken('u1') };
  // A socket is tried again when the test says so, and not in the middle of it.
  let trySocket = (): void => {};
  const clock: ClientClock = {
    ...systemClock,
    after(delayMs, run) {
      if (delayMs !== SOCKET_AGAIN_MS) return systemClock.after(delayMs, run);
      trySocket = run;
      return () => (trySocket = () => {});
    },
  };
  const client = product.client(
    'u1',
    pullingWhenBlocked(
      { ...options, WebSocket: Blockable, random: () => 0, device: 'd', clock },
      { afterFailures: 2, everyMs: 500, socketAgainMs: SOCKET_AGAIN_MS },
    ),
  );
  await until(client, () => client.state === 'live');
  expect(opened).toBe(2);
  expect(client.user).toBe('u1');
  expect(shownOf(client)).toEqual(countedIn(await product.unread('u1')));

  await product.post(message('c3', 'b'), message('new', 'a'));
  await until(client, () => client.total() === 252);
  expect(shownOf(client)).toEqual(countedIn(await product.unread('u1')));

  client.markRead('c3');
  expect([client.total(), client.pending().length]).toEqual([250, 1]);
  blocked = false;
  trySocket();
  await until(client, () => client.pending().length === 0);
  await until(client, () => client.state === 'live');
  expect(opened).toBe(3);
  expect(shownOf(client)).toEqual(countedIn(await product.unread('u1')));
  expect(client.total()).toBe(250);
});
