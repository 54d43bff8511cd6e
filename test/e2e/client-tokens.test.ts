import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { message, openContext, TruthLog } from '../support/client-browser.ts';
import { eventually } from '../support/demo-page.ts';
import { signedToken, startProduct } from '../support/product.ts';

/** What the app's endpoint for tokens may do to its tabs. */
const browser = useBrowser();
const HOUR_MS = 3_600_000;

async function scene(token: (asked: number) => string | Promise<string>) {
  const product = await startProduct();
  const truth = new TruthLog(product);
  await truth.post(message('c1', 'a'));
  const { tab, reasons } = await openContext(browser(), product, { token });
  return { product, truth, tab, reasons };
}

test('it fails, and is asked again', async () => {
  const { truth, tab, reasons } = await scene((asked) => {
    if (asked < 2) throw new Error('the endpoint is away');
    return signedToken('u1');
  });
  const tabs = [await tab(), await tab()];
  for (const screen of tabs) await truth.holds(screen);
  expect(reasons.length).toBeGreaterThan(2);
  const faults = await Promise.all(tabs.map((screen) => screen.faults()));
  expect(faults.flat()).toContainEqual(expect.stringContaining('the endpoint is away'));
});

test('it never answers in the tab that would lead: the other one is not held up', async () => {
  const { truth, tab, reasons } = await scene((asked) => (asked === 0 ? new Promise(() => {}) : signedToken('u1')));
  const first = await tab();
  await eventually(() => reasons.length).toBe(1);
  const second = await tab();
  await second.live();
  // Before the first one, which waits for its token for 30 s, asks for another.
  expect(await first.text('state')).toBe('connecting');
  await truth.holds(second);
});

test('it answers a token that has expired, and then a good one', async () => {
  const { truth, tab } = await scene((asked) => signedToken('u1', asked === 0 ? -HOUR_MS : HOUR_MS));
  const tabs = [await tab(), await tab()];
  for (const screen of tabs) await truth.holds(screen);
});

test('it answers nothing but expired tokens: the client stops, and may be asked to try again', async () => {
  let lifeMs = -HOUR_MS;
  const { truth, tab, reasons } = await scene(() => signedToken('u1', lifeMs));
  const screen = await tab();
  await eventually(() => screen.text('state')).toBe('stopped');
  expect(await screen.page.evaluate('tidemark.stopped')).toMatchObject({ code: 4200, retryable: true });
  expect(reasons).toEqual(['connect', 'expired']);
  lifeMs = HOUR_MS;
  await screen.page.evaluate('tidemark.connect()');
  await truth.holds(screen);
});

test('it fails and answers expired tokens when a token has to be renewed: the socket stands until its own is over', async () => {
  const answers = [
    () => signedToken('u1', 8_000),
    () => Promise.reject(new Error('the endpoint is away')),
    () => signedToken('u1', -HOUR_MS),
    () => Promise.reject(new Error('the endpoint is away')),
  ];
  const { truth, tab, reasons } = await scene((asked) => answers[asked]?.() ?? signedToken('u1'));
  const screen = await tab();
  await truth.holds(screen);
  await eventually(() => reasons.length).toBeGreaterThan(answers.length);
  await truth.post(message('c1', 'b'));
  await truth.holds(screen);
});
