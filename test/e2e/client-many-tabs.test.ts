import { expect, test } from 'vitest';
import type { TidemarkClient } from '../../client/index.ts';
import { useBrowser } from '../support/browser.ts';
import { crash, message, openContext, TruthLog } from '../support/client-browser.ts';
import { eventually } from '../support/demo-page.ts';
import { startProduct } from '../support/product.ts';

/** More tabs than anybody opens, tabs of two users, and browsers in which tabs cannot speak to each other. */
const browser = useBrowser();

declare const tidemark: TidemarkClient;

test('20 tabs are opened at once', async () => {
  const product = await startProduct();
  const truth = new TruthLog(product);
  await truth.post(message('c1', 'a'));
  const { tab } = await openContext(browser(), product);
  const tabs = await Promise.all(Array.from({ length: 20 }, () => tab()));
  for (const screen of tabs) await truth.holds(screen);
  await truth.post(message('c1', 'b'));
  await tabs[7]?.read('c1');
  await tabs[7]?.settled();
  for (const screen of tabs) await truth.holds(screen);
  await eventually(() => product.metric('tidemark_connections{state="live"}')).toBe(1);
});

test('500 conversations are read at once in five tabs that follow, and the tab that leads dies midway', async () => {
  const product = await startProduct();
  const truth = new TruthLog(product);
  const convs = Array.from({ length: 500 }, (_, i) => `c${i}`);
  await truth.post(...convs.map((conv) => message(conv, 'a')));
  const { context, tab } = await openContext(browser(), product);
  const leader = await tab();
  await truth.holds(leader);
  const others = await Promise.all([0, 1, 2, 3, 4].map(() => tab()));
  for (const screen of others) await truth.holds(screen);
  const parts = others.map((screen, i) => ({ screen, part: convs.slice(i * 100, (i + 1) * 100) }));
  await Promise.all(
    parts.map(({ screen, part }) =>
      screen.page.evaluate((all) => all.forEach((conv) => tidemark.markRead(conv)), part),
    ),
  );
  await crash(context, leader);
  for (const screen of others) {
    await screen.shows('total', 0);
    await screen.settled();
    await screen.live();
  }
  const { total, rows } = await product.unread('u1');
  expect([total, rows.filter(({ unread }) => unread > 0)]).toEqual([0, []]);
  for (const screen of others) {
    const shown = await screen.shown();
    // Each is read once, in whatever order: no number ever goes up.
    for (const what of ['total', ...convs]) {
      const numbers = shown.filter(([id]) => id === what).map(([, text]) => Number(text));
      expect(numbers).toEqual(numbers.toSorted((a, b) => b - a));
    }
    expect(await screen.faults()).toEqual([]);
  }
});

test.each([
  ['a name each', { tabs: true, name: 'of u3' }],
  ['one name', { store: false }],
])('[AK5] two users in two tabs of one browser, with %s', async (_how, settings) => {
  const product = await startProduct();
  const truth = new TruthLog(product);
  const otherTruth = new TruthLog(product, 'u3');
  await truth.post(message('c1', 'a', { members: ['u1', 'u2', 'u3'] }), message('c2', 'a'));
  await otherTruth.note();
  const { tab } = await openContext(browser(), product);
  const first = await tab();
  await truth.holds(first);
  const others = [await tab(settings, 'u3'), await tab(settings, 'u3')];
  for (const screen of others) await otherTruth.holds(screen);
  await others[0]?.read('c1');
  await others[0]?.settled();
  for (const screen of others) await otherTruth.holds(screen);
  await truth.post(message('c1', 'b'));
  await otherTruth.note();
  for (const screen of others) await otherTruth.holds(screen);
  await truth.holds(first);
  expect(await first.text('c1')).toBe('2');
  expect(await others[0]?.text('c1')).toBe('1');
  await first.page.close();
  await truth.post(message('c1', 'c'));
  for (const screen of others) await otherTruth.holds(screen);
});

const missing: [string, () => void][] = [
  ['without Web Locks', () => void Reflect.deleteProperty(Navigator.prototype, 'locks')],
  ['without BroadcastChannel', () => void Reflect.deleteProperty(globalThis, 'BroadcastChannel')],
  [
    'with Web Locks that are not for this page',
    () => {
      LockManager.prototype.request = () => Promise.reject(new DOMException('not here', 'SecurityError'));
    },
  ],
  [
    'with a BroadcastChannel that is not for this page',
    () => {
      globalThis.BroadcastChannel = class {
        constructor() {
          throw new DOMException('not here', 'SecurityError');
        }
      } as unknown as typeof BroadcastChannel;
    },
  ],
];
test.each(missing)('a browser %s: a tab works by itself', async (_how, takeAway) => {
  const product = await startProduct();
  const truth = new TruthLog(product);
  await truth.post(message('c1', 'a'));
  await truth.post(message('c2', 'a'));
  const { context, tab } = await openContext(browser(), product);
  await context.addInitScript(takeAway);
  const screen = await tab();
  await truth.holds(screen);
  await screen.read('c1');
  await screen.settled();
  await truth.holds(screen);
  await product.kill();
  await eventually(() => screen.text('state')).toBe('resuming');
  await product.start();
  await truth.post(message('c2', 'b'));
  await truth.holds(screen);
  expect(await screen.faults()).toEqual([]);
});
