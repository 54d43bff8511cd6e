import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { message, openContext, TruthLog } from '../support/client-browser.ts';
import type { Screen } from '../support/client-browser.ts';
import { eventually } from '../support/demo-page.ts';
import { startProduct } from '../support/product.ts';

const HOUR_MS = 3_600_000;
const browser = useBrowser();

test.each([
  ['forward', HOUR_MS],
  ['back', -HOUR_MS],
])(
  'the clock of a browser is set %s by an hour, while it is live and while it is not: nobody notices',
  async (_way, byMs) => {
    const product = await startProduct({ TIDEMARK_HEARTBEAT_MS: '5000' });
    const truth = new TruthLog(product);
    await truth.post(message('c1', 'a'));
    await truth.post(message('c2', 'a'));
    const { tab } = await openContext(browser(), product);
    const tabs = [await tab(), await tab()];
    const [first, second] = tabs as [Screen, Screen];
    for (const screen of tabs) await truth.holds(screen);
    for (const screen of tabs) await setClock(screen, byMs);
    await second.read('c1');
    await second.settled();
    for (const screen of tabs) await truth.holds(screen);
    await product.kill();
    for (const screen of tabs) await eventually(() => screen.text('state')).toBe('resuming');
    await second.read('c2');
    await second.shows('total', 0);
    for (const screen of tabs) await setClock(screen, byMs);
    await product.start();
    for (const screen of tabs) await screen.settled();
    for (const screen of tabs) await truth.holds(screen);
    for (const screen of tabs) await setClock(screen, -2 * byMs);
    await truth.post(message('c1', 'b'));
    for (const screen of tabs) await truth.holds(screen);
    // Loaded again by a clock that is behind the one of the page before.
    await second.page.close();
    await first.page.addInitScript(`{ const now = Date.now; Date.now = () => now() - ${3 * HOUR_MS}; }`);
    await first.load();
    await truth.holds(first);
    await truth.post(message('c1', 'c'));
    await truth.holds(first);
    expect(await first.faults()).toEqual([]);
  },
);

async function setClock({ page }: Screen, byMs: number): Promise<void> {
  await page.evaluate((ms) => {
    const now = Date.now.bind(Date);
    Date.now = () => now() + ms;
  }, byMs);
}
