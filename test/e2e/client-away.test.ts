import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { openContext, storedCommands } from '../support/client-browser.ts';
import type { Screen } from '../support/client-browser.ts';
import { eventually } from '../support/demo-page.ts';
import { startProduct } from '../support/product.ts';

/** An app whose unread service is away goes on: it shows what it has itself, and what was done there is done when it is back. */
const browser = useBrowser();
const CONVS = ['c1', 'c2', 'c3'];
const HEADS = { c1: 2, c2: 2, c3: 2 };

/** The app's own server. */
async function startApp(): Promise<string> {
  const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html>'));
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function texts(screen: Screen): Promise<(string | null)[]> {
  return Promise.all([...CONVS, 'total'].map((what) => screen.text(what)));
}

async function pending(screen: Screen): Promise<number> {
  return screen.page.evaluate('tidemark.pending().length');
}

test('the service is not there from the start: the app works, first with no numbers, then with the last ones', async () => {
  const origin = await startApp();
  const product = await startProduct({ TIDEMARK_ALLOWED_ORIGINS: origin });
  const message = (conv: string, id: string) => ({
    type: 'message.created',
    conv,
    message_id: `${conv}-${id}`,
    sender: 'u2',
    members: ['u1', 'u2'],
  });
  await product.post(...CONVS.flatMap((conv) => [message(conv, 'a'), message(conv, 'b')]));
  await product.kill();
  const laptop = await openContext(browser(), product, { origin, script: 'react-screen.ts' });
  const screen = await laptop.tab({ convs: CONVS, heads: HEADS, url: product.url, store: true });
  const thrown: string[] = [];
  screen.page.on('pageerror', (error) => thrown.push(String(error)));

  // Nothing is known: no number is shown, not even 0.
  await eventually(() => screen.sockets()).toBeGreaterThan(1);
  expect(await screen.text('state')).toBe('connecting');
  expect(await texts(screen)).toEqual(['', '', '', null]);
  await screen.page.locator('#c1').click();
  expect(await pending(screen)).toBe(1);
  // A page that goes takes with it what it is still writing.
  await eventually(() => storedCommands(screen)).toBe(1);
  await screen.load();
  await eventually(() => pending(screen)).toBe(1);
  await product.start();
  await screen.live();
  await screen.settled();
  await eventually(() => texts(screen)).toEqual(['0', '2', '2', '4']);
  expect((await product.unread('u1')).total).toBe(4);
  // And kept, with the numbers that came with its effect.
  await eventually(() => storedCommands(screen)).toBe(0);

  // The last numbers are known.
  await product.kill();
  await screen.load();
  await eventually(() => texts(screen)).toEqual(['0', '2', '2', '4']);
  await eventually(() => screen.sockets()).toBeGreaterThan(1);
  await screen.page.locator('#c2').click();
  await eventually(() => texts(screen)).toEqual(['0', '0', '2', '2']);
  expect(await pending(screen)).toBe(1);
  await product.start();
  await product.post(message('c3', 'c'));
  await screen.live();
  await screen.settled();
  await eventually(() => texts(screen)).toEqual(['0', '0', '3', '3']);
  expect((await product.unread('u1')).total).toBe(3);
  expect(thrown).toEqual([]);
  expect(await screen.faults()).toEqual([]);
});
