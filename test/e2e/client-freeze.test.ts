import { expect, test } from 'vitest';
import { usePlainBrowser } from '../support/browser.ts';
import { message, openContext, TruthLog } from '../support/client-browser.ts';
import type { Screen } from '../support/client-browser.ts';
import { eventually } from '../support/demo-page.ts';
import { startProduct } from '../support/product.ts';

/** Tabs that the browser freezes and lets run again. */
const browser = usePlainBrowser();

async function scene() {
  const product = await startProduct();
  const truth = new TruthLog(product);
  await truth.post(message('c1', 'a'));
  const { tab } = await openContext(browser(), product, { isPlain: true });
  return { truth, tab };
}

test('the tab that leads is frozen: another one leads, and the first follows and is right when it runs again', async () => {
  const { truth, tab } = await scene();
  const first = await tab();
  await first.live();
  const second = await tab();
  await second.live();
  const thaw = await freeze(first);
  await eventually(() => second.sockets()).toBe(1);
  await truth.post(message('c2', 'a'));
  await second.shows('c2', 1);
  await second.read('c1');
  await second.settled();
  await truth.note();
  await thaw();
  for (const screen of [first, second]) await truth.holds(screen);
  await truth.post(message('c2', 'b'));
  for (const screen of [first, second]) await truth.holds(screen);
  expect([await first.sockets(), await second.sockets()]).toEqual([1, 1]);
});

test.each([true, false])('a single tab is frozen and runs again: it asks where it stands (tabs: %s)', async (tabs) => {
  const { truth, tab } = await scene();
  const screen = await tab({ tabs });
  await screen.live();
  const thaw = await freeze(screen);
  await truth.post(message('c1', 'b'));
  await truth.post(message('c2', 'a'));
  await thaw();
  await truth.holds(screen);
  await eventually(() => screen.page.evaluate<string[]>('lifecycle')).toContain('synced');
  expect(await screen.page.evaluate('lifecycle.slice(0, 2)')).toEqual(['freeze', 'resume']);
});

/** As a browser does with a tab that is not looked at; answers how to let it run again. */
async function freeze({ page }: Screen): Promise<() => Promise<void>> {
  await page.evaluate(`
    globalThis.lifecycle = [];
    for (const name of ['freeze', 'resume']) document.addEventListener(name, () => lifecycle.push(name));
    tidemark.on('synced', () => lifecycle.push('synced'));
  `);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Page.setWebLifecycleState', { state: 'frozen' });
  return async () => void (await devtools.send('Page.setWebLifecycleState', { state: 'active' }));
}
