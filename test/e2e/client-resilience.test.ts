import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { randomOf } from '../../loadtest/random.ts';
import { useBrowser } from '../support/browser.ts';
import { message, openContext, storedCommands, TruthLog } from '../support/client-browser.ts';
import type { BrowserOptions } from '../support/client-browser.ts';
import { eventually } from '../support/demo-page.ts';
import { startProduct, until } from '../support/product.ts';
import type { Product } from '../support/product.ts';
import { openTcpProxy } from '../support/tcp-proxy.ts';
import { trueInOrder } from '../support/true-numbers.ts';

/**
 * What may happen to a browser: afterwards its two tabs and the phone show what the server counts, and on the way they showed nothing
 * that was not true.
 */
const browser = useBrowser();
const CONVS = ['c1', 'c2', 'c3'];

interface SceneOptions extends BrowserOptions {
  /** Where what happens is meant for a tab that nobody takes over from, the other is opened when it has happened. */
  isAlone?: boolean;
}

async function scene({ isAlone = false, ...options }: SceneOptions = {}, product?: Product) {
  const running = product ?? (await startProduct());
  const truth = new TruthLog(running);
  await truth.post(...CONVS.flatMap((conv) => [message(conv, 'a'), message(conv, 'b', { mentions: ['u1'] })]));
  const laptop = await openContext(browser(), running, options);
  const screen = await laptop.tab();
  await screen.live();
  await truth.holds(screen);
  let second = isAlone ? null : await laptop.tab();
  await second?.live();
  const phone = await (await openContext(browser(), running)).tab();
  await phone.live();
  const holdEverywhere = async (): Promise<void> => {
    second ??= await laptop.tab();
    for (const one of [screen, second, phone]) await truth.holds(one);
  };
  return { product: running, truth, laptop, screen, phone, holdEverywhere };
}

test('offline for 500 changes, and back', async () => {
  const { truth, laptop, screen, phone, holdEverywhere } = await scene();
  await laptop.context.setOffline(true);
  await eventually(() => screen.text('state')).toBe('offline');
  for (let i = 0; i < 500; i++) await truth.post(message(CONVS[i % 3] ?? '', `off-${i}`));
  await phone.shows('total', 506);
  await screen.shows('total', 6);
  await laptop.context.setOffline(false);
  await holdEverywhere();
});

test('loaded again with what was read still on its way: the old numbers first, then it is done', async () => {
  const { laptop, screen, holdEverywhere } = await scene({ isAlone: true });
  await laptop.context.setOffline(true);
  await eventually(() => screen.text('state')).toBe('offline');
  await screen.read('c1');
  await screen.shows('total', 4);
  // The write into the database is not waited for by anybody but the next reader of it.
  await eventually(() => storedCommands(screen)).toBe(1);
  await screen.page.evaluate('tidemark.disconnect()');
  await laptop.context.setOffline(false);
  await screen.load();
  // The first of all that this page has shown, whenever that was.
  const firstTotal = async () => (await screen.shown()).find(([what]) => what === 'total');
  await eventually(firstTotal).toEqual(['total', '4']);
  await screen.live();
  await screen.settled();
  await holdEverywhere();
});

test('the database is damaged: a snapshot brings all', async () => {
  const { screen, holdEverywhere } = await scene({ isAlone: true });
  await screen.page.evaluate('tidemark.disconnect()');
  await screen.page.evaluate(
    () =>
      new Promise<void>((resolve) => {
        const request = indexedDB.open('tidemark');
        request.onsuccess = () => {
          const change = request.result.transaction('rows', 'readwrite');
          change.objectStore('rows').put([{ conv: 'c1', version: 'x', unread: 77 }], 0);
          change.oncomplete = () => resolve(request.result.close());
        };
      }),
  );
  await screen.load();
  await holdEverywhere();
});

test('a browser without a database shows the numbers all the same', async () => {
  const { truth, laptop } = await scene();
  await laptop.context.addInitScript(() => {
    indexedDB.open = () => {
      throw new DOMException('private mode', 'SecurityError');
    };
  });
  const screen = await laptop.tab();
  await truth.holds(screen);
  expect(await screen.faults()).toContainEqual(expect.stringContaining('private mode'));
});

test('tokens run out while the socket stands', async () => {
  // Renewed when three quarters of their life are over; the rest is how late that may come on a machine with other things to do.
  const { truth, laptop, screen, holdEverywhere } = await scene({ tokenMs: 10_000 });
  await eventually(() => laptop.reasons.filter((reason) => reason === 'refresh').length).toBeGreaterThanOrEqual(2);
  await truth.post(message('c1', 'c'));
  await holdEverywhere();
  expect(await screen.sockets()).toBe(1);
});

test('the server is killed and comes back', async () => {
  const { product, truth, screen, holdEverywhere } = await scene();
  await product.kill();
  await eventually(() => screen.text('state')).toBe('resuming');
  await screen.shows('total', 6);
  await product.start();
  await truth.post(message('c2', 'c'));
  await holdEverywhere();
});

test('50 cuts at random while messages come and a phone reads', async () => {
  const product = await startProduct();
  const proxy = await openTcpProxy(Number(new URL(product.url).port));
  try {
    const { truth, holdEverywhere } = await scene({ origin: `http://127.0.0.1:${proxy.port}` }, product);
    const phone = product.client('u1');
    const random = randomOf(1);
    for (let i = 0; i < 50; i++) {
      const conv = CONVS[i % 3] ?? '';
      await truth.post(message(conv, `m${i}`, { mentions: i % 4 === 0 ? ['u1'] : [] }));
      if (i % 5 === 0) {
        await until(phone, () => (phone.get(conv)?.unread ?? 0) > 0);
        phone.markRead(conv);
        await until(phone, () => phone.pending().length === 0);
        await truth.note();
      }
      await sleep(random.fraction() * 100);
      proxy.cut();
    }
    await holdEverywhere();
    await phone.close();
  } finally {
    await proxy.close();
  }
});

test('a number that flickers is caught', async () => {
  const { truth, screen } = await scene();
  await screen.flicker('c1', '3');
  expect(await truth.lies(screen)).toEqual(['c1: 3']);
  await truth.post(message('c1', 'c'));
  await screen.shows('c1', 3);
  await screen.flicker('c1', '2');
  // Now 3 has been true, and going back from it, twice, is what nothing explains.
  expect(await truth.lies(screen)).toEqual(['c1: 2', 'c1: 2']);
  expect(trueInOrder([1, 2, 1], [1, 2, 3])).toEqual([1]);
});
