import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { message, openContext } from '../support/client-browser.ts';
import { eventually } from '../support/demo-page.ts';
import { startProduct } from '../support/product.ts';

/** The hooks under real React in a real browser, in StrictMode, on the running product. */
const browser = useBrowser();

test('one changed conversation renders one row; StrictMode opens one socket; unmounting closes it', async () => {
  const product = await startProduct();
  const convs = Array.from({ length: 30 }, (_, i) => `c${i}`);
  await product.post(...convs.map((conv) => message(conv, 'a')));
  const laptop = await openContext(browser(), product, { script: 'react-screen.ts' });
  const screen = await laptop.tab({ convs });
  await screen.live();
  await screen.shows('total', 30);
  expect(await screen.sockets()).toBe(1);
  const commits = () => screen.page.evaluate<Record<string, number>>('({ ...screenApp.commits })');
  /** What was rendered between two looks, how often. */
  const rendered = async (before: Record<string, number>) => {
    const after = await commits();
    return Object.fromEntries(
      Object.keys(after).flatMap((part) => {
        const times = (after[part] ?? 0) - (before[part] ?? 0);
        return times === 0 ? [] : [[part, times]];
      }),
    );
  };

  let before = await commits();
  await product.post(message('c7', 'b', { mentions: ['u1'] }));
  await screen.shows('c7', 2);
  await screen.shows('mentions', 1);
  expect(await rendered(before)).toEqual({ c7: 1, sums: 1 });

  before = await commits();
  await screen.page.locator('#c3').click();
  await screen.shows('c3', 0);
  await screen.settled();
  expect(await rendered(before)).toEqual({ c3: 1, sums: 1 });

  before = await commits();
  await screen.page.evaluate(`
    const { promise, resolve } = Promise.withResolvers();
    tidemark.on('synced', () => resolve());
    tidemark.sync({ force: true });
    promise;
  `);
  await screen.live();
  expect(Object.keys(await rendered(before)).filter((part) => part !== 'line')).toEqual([]);

  await screen.page.evaluate('unmount()');
  await eventually(() => screen.page.evaluate('tidemark.state')).toBe('idle');
  expect(await screen.faults()).toEqual([]);
});
