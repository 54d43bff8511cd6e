import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { crash, message, openContext, storedCommands, TruthLog } from '../support/client-browser.ts';
import type { Screen } from '../support/client-browser.ts';
import { eventually } from '../support/demo-page.ts';
import { signedToken, startProduct } from '../support/product.ts';

/**
 * What may happen to a browser's database while its tabs are open: they show what the server counts, and a page that is opened when
 * no server is there shows a whole version that once was true.
 */
const browser = useBrowser();
const CONVS = Array.from({ length: 60 }, (_, i) => `c${i}`);

/** Puts into the rows that are let through before a write stands still, with its transaction open. */
declare let putsLeft: number;
declare let isStandingStill: boolean;

async function scene() {
  const product = await startProduct();
  const truth = new TruthLog(product);
  await truth.post(...CONVS.map((conv) => message(conv, 'a')));
  let mayConnect = Promise.withResolvers<void>();
  mayConnect.resolve();
  const token = async (): Promise<string> => {
    await mayConnect.promise;
    return signedToken('u1');
  };
  const laptop = await openContext(browser(), product, { token });
  await laptop.context.addInitScript(() => {
    const put = Reflect.get<IDBObjectStore, 'put'>(IDBObjectStore.prototype, 'put');
    Object.assign(globalThis, { putsLeft: Infinity, isStandingStill: false });
    IDBObjectStore.prototype.put = function (...given) {
      if (this.name !== 'rows' || --putsLeft >= 0) return put.apply(this, given);
      isStandingStill = true;
      // Nobody hears of it, and for as long as something is asked for the transaction lasts.
      const goOn = (): unknown => (this.get(0).onsuccess = goOn);
      goOn();
      return {} as IDBRequest<IDBValidKey>;
    };
  });
  const first = await laptop.tab();
  await truth.holds(first);
  await writtenWhole(first);

  /** All tabs are closed, and there is nobody to connect for: what a new one shows comes from the database. */
  const showsKept = async (total: number): Promise<void> => {
    mayConnect = Promise.withResolvers();
    await Promise.all(laptop.context.pages().map((page) => page.close()));
    const next = await laptop.tab();
    await next.shows('total', total);
    mayConnect.resolve();
    await next.settled();
    await truth.holds(next);
    // No device has found that its rows are not the server's.
    expect(await product.metric('tidemark_divergence_total')).toBe(0);
  };
  return { product, truth, laptop, first, showsKept };
}

test('[SY7] the tab that leads is killed in the middle of a write: what is kept is one whole version', async () => {
  const { truth, laptop, first, showsKept } = await scene();
  const second = await laptop.tab();
  await second.live();
  await standStill(first, 10);
  await truth.post(...CONVS.map((conv) => message(conv, 'b')));
  await eventually(() => first.page.evaluate(() => isStandingStill)).toBe(true);
  await crash(laptop.context, first);
  await truth.post(message('c0', 'c'));
  await truth.holds(second);
  await writtenWhole(second);
  await showsKept(121);
});

test('the only tab is killed in the middle of a write: the version before is kept', async () => {
  const { truth, laptop, first, showsKept } = await scene();
  await standStill(first, 10);
  await truth.post(...CONVS.map((conv) => message(conv, 'b')));
  await eventually(() => first.page.evaluate(() => isStandingStill)).toBe(true);
  await crash(laptop.context, first);
  await showsKept(60);
});

test('a tab hangs in the middle of a write: another one does not wait for the database for ever', async () => {
  const { truth, laptop, first } = await scene();
  await standStill(first, 0);
  await truth.post(message('c0', 'b'));
  await eventually(() => first.page.evaluate(() => isStandingStill)).toBe(true);
  const second = await laptop.tab();
  for (const screen of [first, second]) await truth.holds(screen);
});

test('the disk is full, and then it is not', async () => {
  const product = await startProduct();
  const truth = new TruthLog(product);
  await truth.post(message('c0', 'a'));
  const { context, tab } = await openContext(browser(), product);
  // What a browser knows of the room on its disk it believes for a while.
  const before = await context.newPage();
  await before.goto(`${product.url}/healthz`);
  const devtools = await context.newCDPSession(before);
  const origin = product.url;
  await devtools.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 1 });
  const screen = await tab();
  await truth.holds(screen);
  await eventually(() => screen.faults()).toContainEqual(expect.stringContaining('QuotaExceededError'));
  await truth.post(message('c1', 'a'));
  await truth.holds(screen);
  await devtools.send('Storage.overrideQuotaForOrigin', { origin });
  await truth.post(message('c1', 'b'));
  await truth.holds(screen);
  await writtenWhole(screen);
});

test('[AK4] the browser wipes the database of an open page: what changes next, and what is asked for, is kept with all the rest', async () => {
  const { product, truth, laptop, first, showsKept } = await scene();
  const devtools = await laptop.context.newCDPSession(first.page);
  await devtools.send('Storage.clearDataForOrigin', { origin: product.url, storageTypes: 'indexeddb' });
  await truth.post(message('c0', 'b'));
  await truth.holds(first);
  await writtenWhole(first);
  await product.kill();
  await eventually(() => first.text('state')).toBe('resuming');
  await devtools.send('Storage.clearDataForOrigin', { origin: product.url, storageTypes: 'indexeddb' });
  await first.read('c0');
  await eventually(() => storedCommands(first)).toBe(1);
  await first.page.close();
  await product.start();
  await showsKept(59);
  expect((await product.unread('u1')).total).toBe(59);
});

test('another tab deletes the database: it has not to wait, and the next change writes a whole one', async () => {
  const { truth, laptop, first, showsKept } = await scene();
  const second = await laptop.tab();
  await second.live();
  await second.page.evaluate(
    () =>
      new Promise((resolve, reject) => {
        const request = indexedDB.deleteDatabase('tidemark');
        request.onsuccess = resolve;
        request.onerror = reject;
      }),
  );
  await truth.post(message('c0', 'b'));
  for (const screen of [first, second]) await truth.holds(screen);
  await writtenWhole(first);
  expect([await first.faults(), await second.faults()]).toEqual([[], []]);
  await showsKept(61);
});

test('a newer version of the app takes the database over: the older one goes on without', async () => {
  const { truth, laptop, first } = await scene();
  const second = await laptop.tab();
  await second.live();
  await second.page.evaluate(
    () =>
      new Promise<void>((resolve, reject) => {
        const request = indexedDB.open('tidemark', 1_000);
        request.onsuccess = () => resolve();
        request.onerror = reject;
      }),
  );
  await truth.post(message('c0', 'b'));
  await eventually(() => first.faults()).toContainEqual(expect.stringContaining('VersionError'));
  await first.read('c1');
  await second.read('c2');
  for (const screen of [first, second]) await screen.settled();
  await truth.note();
  for (const screen of [first, second]) await screen.shows('total', 59);
  expect(await first.faults()).not.toContainEqual(expect.stringMatching(/^un/));
});

test('a database that never opens', async () => {
  const { truth, laptop } = await scene();
  await laptop.context.addInitScript(() => {
    indexedDB.open = () => ({}) as IDBOpenDBRequest;
  });
  const screen = await laptop.tab();
  await truth.holds(screen);
  expect(await screen.faults()).not.toContainEqual(expect.stringMatching(/^un/));
});

async function standStill({ page }: Screen, afterPuts: number): Promise<void> {
  await page.evaluate((count) => {
    putsLeft = count;
  }, afterPuts);
}

/** The database says what the page shows; nobody waits for the write but the next reader of it. */
async function writtenWhole({ page }: Screen): Promise<void> {
  const difference = () =>
    page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          const request = indexedDB.open('tidemark');
          // Where there is none, none is made: an empty one would be in the client's way.
          request.onupgradeneeded = () => request.transaction?.abort();
          request.onerror = () => resolve(NaN);
          request.onsuccess = () => {
            const read = request.result.transaction('rows').objectStore('rows').getAll();
            read.onsuccess = () => {
              request.result.close();
              const rows = (read.result as { unread: number }[][]).flat();
              const kept = rows.reduce((sum, { unread }) => sum + unread, 0);
              resolve(kept - Number(document.getElementById('total')?.textContent));
            };
          };
        }),
    );
  await eventually(difference).toBe(0);
}
