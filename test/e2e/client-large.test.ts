import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { openContext } from '../support/client-browser.ts';
import { eventually } from '../support/demo-page.ts';
import { heapBytes, mainThreadTasks } from '../support/main-thread.ts';
import { startProduct } from '../support/product.ts';

/** A user with very many conversations, in a real browser on the running product. */
const browser = useBrowser();
const CONVS = 10_000;
const POST_EVENTS_MAX = 500;

test('10,000 conversations: a snapshot is taken in, kept in few records of which none is large, and shown from there', async () => {
  const product = await startProduct();
  const messages = Array.from({ length: CONVS }, (_, i) => ({
    type: 'message.created',
    conv: `conversation-${i}`,
    message_id: `m${i}`,
    sender: 'u2',
    members: ['u1', 'u2'],
  }));
  for (let i = 0; i < CONVS; i += POST_EVENTS_MAX) await product.post(...messages.slice(i, i + POST_EVENTS_MAX));
  const laptop = await openContext(browser(), product, { script: 'bare-screen.ts' });
  const screen = await laptop.tab();
  const devtools = await laptop.context.newCDPSession(screen.page);
  const held = async () => screen.page.evaluate<number[]>('[tidemark.list().length, tidemark.total()]');

  const bytesBefore = await heapBytes(devtools);
  const tasks = await mainThreadTasks(screen.page, () => screen.page.evaluate('screenApp.live(tidemark)'));
  const ms = tasks.reduce((sum, task) => sum + task, 0);
  const mebibytes = ((await heapBytes(devtools)) - bytesBefore) / 1024 / 1024;
  // No test asserts a duration. Meant are 100 ms in tasks of 16 ms at most.
  process.stdout.write(
    `10,000 rows taken in and kept: ${ms.toFixed(0)} ms of the main thread, the longest task ${tasks[0]?.toFixed(1)} ms; ` +
      `${mebibytes.toFixed(1)} MiB of the heap\n`,
  );
  expect(await held()).toEqual([CONVS, CONVS]);
  const records = await screen.page.evaluate(recordSizes);
  expect(records.reduce((sum, rows) => sum + rows, 0)).toBe(CONVS);
  expect(records.length).toBeLessThanOrEqual(64);
  expect(Math.max(...records)).toBeLessThanOrEqual(CONVS / 25);

  await screen.load();
  await eventually(held).toEqual([CONVS, CONVS]);
  expect(await screen.page.evaluate('tidemark.state')).toBe('idle');
  expect(await screen.faults()).toEqual([]);
});

/** Runs in the page: how many rows each record of the database has. */
async function recordSizes(): Promise<number[]> {
  return new Promise((resolve) => {
    const request = indexedDB.open('tidemark');
    request.onsuccess = () => {
      const read = request.result.transaction('rows').objectStore('rows').getAll();
      read.onsuccess = () => {
        request.result.close();
        resolve((read.result as unknown[][]).map(({ length }) => length));
      };
    };
  });
}
