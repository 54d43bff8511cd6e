import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { noMetrics } from '../../src/metrics.ts';
import type { HeldRow } from '../../src/core/row.ts';
import { openStores } from '../../src/stores.ts';
import { systemClock, systemRandom } from '../../src/system.ts';
import { useBrowser } from '../support/browser.ts';
import { openContext } from '../support/client-browser.ts';
import { NEED_TIMEOUT_MS } from '../support/debian.ts';
import { eventually } from '../support/demo-page.ts';
import { openInspector } from '../support/inspector-page.ts';
import { freshDatabase } from '../support/mysql-database.ts';
import { API_KEY, startProduct } from '../support/product.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { sharedMariadb } from '../support/shared-mariadb.ts';
import { spoilRow } from '../support/spoiled-row.ts';

/** "My badge is wrong", from the call to the right number, on the product as it runs in production. */
const browser = useBrowser();
/** Ids are opaque: markup, and as long as an id may be. */
const USER = '<img src=x onerror=alert(1)>';
const CONV = '"><svg onload=alert(2)>';
const LONG = '🌊'.repeat(32);
const TEST_TIMEOUT_MS = 180_000;

let mariadb: string;
let redis: RedisServer;
beforeAll(async () => {
  [mariadb, redis] = await Promise.all([sharedMariadb(), startRedis()]);
}, NEED_TIMEOUT_MS);
afterAll(() => redis?.stop());

async function scene() {
  const database = await freshDatabase(mariadb);
  onTestFinished(() => database.drop());
  // What it holds belongs to the database of another test.
  await redis.admin.flushall();
  const settings = {
    TIDEMARK_MYSQL_URL: database.url,
    TIDEMARK_REDIS_URL: redis.url,
    // So that nobody else repairs what is spoilt.
    TIDEMARK_RECONCILE_INTERVAL_MS: '0',
  };
  const product = await startProduct(settings);
  const message = { type: 'message.created', sender: 'bob', members: [USER, 'bob'] };
  await product.post(
    { ...message, conv: LONG, message_id: 'l1' },
    { ...message, conv: CONV, message_id: 'm1' },
    { ...message, conv: CONV, message_id: 'm2' },
  );
  const stores = await openStores(readConfig(settings), {
    clock: systemClock,
    random: systemRandom,
    metrics: noMetrics,
    onError: (error) => {
      throw error;
    },
  });
  onTestFinished(() => stores.close());
  const device = await (await openContext(browser(), product, { user: USER })).tab();
  await device.live();
  await device.shows('total', 3);

  async function held(): Promise<{ row: HeldRow; at: { epoch: string; syncVersion: number } }> {
    const view = await stores.state.read(USER);
    const row = view?.rows.find(({ conv }) => conv === CONV);
    if (!view || !row) throw new Error('the state holds no such row');
    return { row, at: view };
  }

  return {
    product,
    device,
    held,
    message,
    /** As a node with a defect would: it stores the wrong row, and tells the devices of it. */
    storeWrongly: async (with_: Partial<HeldRow>): Promise<void> => {
      const { row, at } = await held();
      const call = { user: USER, op: 'merged' as const, parts: [], rows: [{ ...row, ...with_ }], repairAt: at };
      const [answer] = await stores.state.apply([call]);
      if (answer?.kind !== 'applied' || answer.change === null) throw new Error('the row was not stored');
      await stores.wakeup.publishChanges([answer.change]);
    },
  };
}

test(
  '[CN1][CN3] a wrong row shows red, is explained, and is right on an open device after a repair',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const { product, device, storeWrongly, message } = await scene();
    const inspector = await openInspector(browser(), product.url, API_KEY);
    const { page, side, row, wrong, text } = inspector;
    await inspector.look(USER);
    await eventually(() => text('verdict')).toBe('Truth, state and devices agree.');
    await eventually(() => text('changes-note')).toBe('live');
    await eventually(() => side('total')).toEqual(['3', '3', '3']);
    expect(await row(LONG).locator('.verdict').innerText()).toBe('same');
    expect(await wrong()).toEqual([]);

    await storeWrongly({ unread: 41 });
    await device.shows('total', 42);
    // The page looks at the user now and then, too, so it may see what has changed before it hears of the change.
    await eventually(() => text('verdict')).toBe('The state has 1 conversation wrong.');
    await eventually(() => side('total')).toEqual(['3', '42, not 3', '42, not 3']);
    expect(await row(CONV).locator('.verdict').innerText()).toBe('wrong: unread');
    expect(await row(CONV).locator('[data-field="truth-unread"]').innerText()).toBe('2');
    expect(await row(CONV).locator('.differs').allInnerTexts()).toEqual(['41']);
    expect(await row(LONG).locator('.verdict').innerText()).toBe('same');
    await eventually(() => text('changes')).toContain(`${CONV}: 2 → 41`);

    await row(CONV).getByRole('button').press('Enter');
    await eventually(() => text('why')).toContain('Counted seqs: 1, 2.');
    expect(await text('why')).toContain('counting begins above seq 0: nothing has been read');
    expect(await text('why')).toContain('The state holds 41 unread at the same revs');
    const startedAtMs = performance.now();
    const right = device.page
      .waitForFunction(() => document.getElementById('total')?.textContent === '3', null, { polling: 5 })
      .then(() => Math.round(performance.now() - startedAtMs));
    await page.locator('#repair').press('Enter');
    process.stdout.write(`from "repair" to the right number on an open device: ${await right} ms\n`);
    await eventually(() => text('repaired')).toBe('Repaired, and told to the devices.');
    await eventually(() => text('verdict')).toBe('Truth, state and devices agree.');
    await eventually(() => side('total')).toEqual(['3', '3', '3']);
    expect(await wrong()).toEqual([]);
    await eventually(() => text('changes')).toContain(`${CONV}: 41 → 2`);
    // The explanation keeps up, until it is closed.
    await eventually(() => text('why')).toContain('The state holds 2 unread: the same.');
    await page.keyboard.press('Escape');
    expect(await page.locator('#why').isVisible()).toBe(false);

    // What happens next shows as it happens.
    await product.post({ ...message, conv: CONV, message_id: 'm3' });
    await eventually(() => side('total')).toEqual(['4', '4', '4']);
    await eventually(() => text('changes')).toContain(`${CONV}: 2 → 3`);
    expect(inspector.complaints).toEqual([]);
    expect(page.url()).toBe(`${product.url}/inspect`);
  },
);

test(
  '[CN1][SY10] a row overwritten behind every script does not fit its sums: repair builds the state anew, and devices follow',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const { product, device, held } = await scene();
    const inspector = await openInspector(browser(), product.url, API_KEY);
    const { page, side, wrong, text } = inspector;
    await inspector.look(USER);
    await eventually(() => text('verdict')).toBe('Truth, state and devices agree.');
    const { row, at } = await held();
    await spoilRow(redis.admin, USER, row, { unread: 41 });
    await eventually(() => side('total')).toEqual(['3', '3, but its rows make 42', '3']);
    await eventually(() => text('verdict')).toContain('1 conversation wrong, sums that are not those of its rows');

    await page.locator('#repair').click();
    await eventually(() => text('repaired')).toBe('Repaired, and told to the devices.');
    await eventually(() => text('verdict')).toBe('Truth, state and devices agree.');
    expect(await wrong()).toEqual([]);
    const { epoch } = (await held()).at;
    expect(epoch).not.toBe(at.epoch);
    await eventually(() => text('changes')).toContain(`built anew, epoch ${epoch}`);
    await device.shows('total', 3);

    // A key that the server does not take, and a user whom nobody knows.
    await inspector.look('nobody');
    await eventually(() => text('verdict')).toBe('Truth knows no conversation of this user.');
    await page.locator('#forget').click();
    await page.keyboard.type('another key');
    await page.keyboard.press('Enter');
    await inspector.look(USER);
    await eventually(() => text('notice')).toBe('The server does not take this key.');
    expect(await page.locator('#found').isVisible()).toBe(false);
    expect(inspector.complaints.filter((one) => !one.includes('401'))).toEqual([]);
  },
);
