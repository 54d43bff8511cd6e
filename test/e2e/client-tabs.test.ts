import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { message, openContext, storedCommands, TruthLog } from '../support/client-browser.ts';
import { eventually } from '../support/demo-page.ts';
import { startProduct } from '../support/product.ts';

/** Two tabs of one browser and a phone, in a real browser on the running product. */
const browser = useBrowser();

async function scene(settings: Record<string, string> = {}) {
  const product = await startProduct(settings);
  const truth = new TruthLog(product);
  await truth.post(
    message('c1', 'a'),
    message('c1', 'b'),
    message('c2', 'a', { mentions: ['u1'] }),
    message('c3', 'a'),
  );
  const laptop = await openContext(browser(), product);
  const first = await laptop.tab();
  await first.live();
  const second = await laptop.tab();
  await second.live();
  return { product, truth, laptop, first, second };
}

test('all tabs share one socket, and what is done in one shows in all and on the phone', async () => {
  const { product, truth, first, second } = await scene();
  const phone = await (await openContext(browser(), product)).tab();
  await phone.live();
  expect([await first.sockets(), await second.sockets()]).toEqual([1, 0]);
  await second.read('c1');
  for (const screen of [first, phone]) await screen.shows('c1', 0);
  await truth.note();
  await truth.post(message('c2', 'b'));
  for (const screen of [first, second, phone]) await screen.shows('c2', 2);
  await first.read('c2');
  for (const screen of [second, phone]) await screen.shows('total', 1);
  for (const screen of [first, second, phone]) await truth.holds(screen);
  expect([await first.sockets(), await second.sockets()]).toEqual([1, 0]);
  expect([await first.faults(), await second.faults()]).toEqual([[], []]);
});

test('the tab that leads is closed: the next one leads, and what it had asked for is done', async () => {
  const { truth, first, second } = await scene();
  await second.read('c1');
  await first.page.close();
  // The first one may have done it before it was closed: what it says then is no sign that another leads.
  await eventually(() => second.sockets()).toBe(1);
  await second.settled();
  await truth.holds(second);
  expect(await second.sockets()).toBe(1);
  await truth.post(message('c3', 'b'));
  await truth.holds(second);
});

test('the tab that leads crashes', async () => {
  const { truth, laptop, first, second } = await scene();
  const third = await laptop.tab();
  await third.live();
  const crashed = first.page.waitForEvent('crash');
  const devtools = await laptop.context.newCDPSession(first.page);
  devtools.send('Page.crash').catch(() => {});
  await crashed;
  await second.read('c1');
  await second.settled();
  await truth.note();
  await truth.post(message('c3', 'b'));
  for (const screen of [second, third]) await truth.holds(screen);
  expect((await second.sockets()) + (await third.sockets())).toBe(1);
});

test('the tab that leads hangs: the next one leads, and it follows when it runs again', async () => {
  const { truth, laptop, first, second } = await scene({ TIDEMARK_HEARTBEAT_MS: '5000' });
  const devtools = await laptop.context.newCDPSession(first.page);
  await devtools.send('Debugger.enable');
  const paused = new Promise((resolve) => devtools.once('Debugger.paused', resolve));
  await devtools.send('Debugger.pause');
  await truth.post(message('c2', 'b'));
  await paused;
  await eventually(() => second.sockets()).toBe(1);
  await truth.post(message('c3', 'b'));
  await second.shows('c3', 2);
  await devtools.send('Debugger.disable');
  for (const screen of [first, second]) await truth.holds(screen);
  expect(await first.sockets()).toBe(1);
});

test('the tab that leads is disconnected by its app: the others go on', async () => {
  const { truth, first, second } = await scene();
  await first.page.evaluate('tidemark.disconnect()');
  await truth.post(message('c3', 'b'));
  await truth.holds(second);
  expect(await second.sockets()).toBe(1);
});

test('[AK4] read in a tab that follows while the server is away, and both tabs are closed: it is done by the next tab', async () => {
  const { product, truth, laptop, first, second } = await scene();
  await product.kill();
  for (const screen of [first, second]) await eventually(() => screen.text('state')).toBe('resuming');
  await second.read('c1');
  await second.shows('total', 2);
  await eventually(() => storedCommands(first)).toBe(1);
  await Promise.all([first, second].map(({ page }) => page.close()));
  await product.start();
  const third = await laptop.tab();
  await third.live();
  await third.settled();
  await truth.holds(third);
  expect(await third.text('total')).toBe('2');
  expect(await third.faults()).toEqual([]);
});
