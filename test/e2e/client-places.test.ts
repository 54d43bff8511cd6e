import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { bundled, message, openContext, TruthLog } from '../support/client-browser.ts';
import { eventually } from '../support/demo-page.ts';
import { signedToken, startProduct } from '../support/product.ts';

/** Where a client may find itself: in a worker, beside the database of an older version, in a page that is left at once. */
const browser = useBrowser();

async function scene() {
  const product = await startProduct();
  const truth = new TruthLog(product);
  await truth.post(message('c1', 'a'), message('c1', 'b'), message('c2', 'a'));
  return { product, truth, laptop: await openContext(browser(), product) };
}

test('a Web Worker has all that a page has', async () => {
  const { product, laptop } = await scene();
  const page = await laptop.context.newPage();
  const thrown: string[] = [];
  page.on('pageerror', (error) => thrown.push(String(error)));
  await page.goto(`${product.url}/healthz`);
  await page.evaluate(
    ({ source, url, token }) => {
      const worker = new Worker(URL.createObjectURL(new Blob([source])));
      worker.onmessage = ({ data }) => Object.assign(globalThis, { told: data as unknown });
      worker.postMessage({ url, token });
    },
    { source: await bundled('worker-screen.ts'), url: product.url, token: signedToken('u1') },
  );
  await eventually(() => page.evaluate('globalThis.told')).toEqual(['live', 1, 0]);
  expect((await product.unread('u1')).total).toBe(1);
  await product.post(message('c2', 'b'));
  await eventually(() => page.evaluate('globalThis.told')).toEqual(['live', 2, 0]);
  expect(thrown).toEqual([]);
});

test('the database is that of an older version: it is made anew', async () => {
  const { product, truth, laptop } = await scene();
  const page = await laptop.context.newPage();
  await page.goto(`${product.url}/healthz`);
  await page.evaluate(
    () =>
      new Promise<void>((resolve) => {
        const request = indexedDB.open('tidemark', 1);
        request.onupgradeneeded = () => {
          request.result.createObjectStore('rows', { keyPath: 'conv' }).put({ conv: 'c9', unread: 77 });
          request.result.createObjectStore('standing').put({ device: 'd', epoch: 'e', syncVersion: 9 }, 0);
        };
        request.onsuccess = () => resolve(request.result.close());
      }),
  );
  const screen = await laptop.tab();
  await truth.holds(screen);
  expect(await screen.faults()).toEqual([]);
  expect(await page.evaluate<object[]>('indexedDB.databases()')).toEqual([{ name: 'tidemark', version: 2 }]);
});

test('[AK4] a page that is left in the moment in which something is read sends it', async () => {
  const { product, laptop } = await scene();
  const screen = await laptop.tab();
  await screen.live();
  await screen.page.evaluate("tidemark.markRead('c1'); location.href = 'about:blank'");
  await eventually(async () => (await product.unread('u1')).total).toBe(1);
  // The ack leaves before the navigation is committed, so that the server may know of it first.
  await eventually(() => screen.page.url()).toBe('about:blank');
});
