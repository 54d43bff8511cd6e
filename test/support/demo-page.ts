import type { Browser, Locator, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { freePort } from '../../loadtest/free-port.ts';
import { type NodeProcess, runNode } from './server-process.ts';
import { tempFolder } from './temp-folder.ts';

/** The demo as somebody sees it who has just typed `npm start` and clicked on the link. */
export interface DemoPage {
  readonly page: Page;
  readonly server: NodeProcess;
  /** What the browser complained about. */
  readonly complaints: readonly string[];
  device(title: string): Locator;
  row(device: string, room: string): Locator;
  /** Badge of a row: '' where all is read, null where the row is not listed. */
  badge(device: string, room: string): Promise<string | null>;
  total(device: string): Promise<number>;
  /** Opens the menu of a row and chooses. */
  choose(device: string, room: string, item: string): Promise<void>;
  /** A button below the devices: `send`, `flood`, `restart` and so on. While one is busy with the last click, another is none. */
  press(button: string): Promise<void>;
  say(text: string): Promise<void>;
  /** Until so many devices stand where the server stands, by checks made after this call; none may ever have found anything wrong. */
  level(devices?: number): Promise<void>;
}

/** Whatever is waited for has the patience of a busy machine, which the project sets; nothing is said about how long it took. */
export function eventually<T>(look: () => T | Promise<T>): ReturnType<typeof expect.poll<T>> {
  return expect.poll(look);
}

export const DEVICES = ['Phone', 'Phone 2', 'Laptop'] as const;

export function startDemo(settings: Record<string, string> = {}, dataDir = tempFolder()): NodeProcess {
  return runNode(['src/main.ts'], { TIDEMARK_PORT: '0', TIDEMARK_DATA_DIR: dataDir, ...settings });
}

/** All links to the demo that the server has printed so far; at least `count`. */
export async function demoLinks(server: NodeProcess, count = 1): Promise<string[]> {
  await server.ready;
  const links = (): string[] =>
    server.lines
      .map((line) => JSON.parse(line) as { msg: string; url: string })
      .filter(({ msg }) => msg === 'demo')
      .map(({ url }) => url);
  await eventually(() => links().length).toBeGreaterThanOrEqual(count);
  return links();
}

export async function openDemo(browser: Browser): Promise<DemoPage> {
  const server = startDemo({ TIDEMARK_PORT: await freePort() });
  const [link = ''] = await demoLinks(server);
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  onTestFinished(() => page.close());
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  await page.goto(link);

  const device = (title: string): Locator => page.locator(`[data-device="${title}"]`);
  const row = (title: string, room: string): Locator => device(title).locator(`[data-conv="demo:${room}"]`);
  const checks = async (): Promise<number> => {
    const text = await page.locator('#checks').innerText();
    return Number(/^([\d,]+) checks/.exec(text)?.[1]?.replaceAll(',', ''));
  };
  const demo: DemoPage = {
    page,
    server,
    complaints,
    device,
    row,
    async badge(title, room) {
      // In one look: a row may go between two.
      const [text] = await row(title, room).locator('.badge').allTextContents();
      return text ?? null;
    },
    async total(title) {
      return Number((await device(title).locator('.total').innerText()).replaceAll(',', ''));
    },
    async choose(title, room, item) {
      await row(title, room).locator('.row-more').click();
      await page.getByRole('menuitem', { name: item, exact: true }).click();
    },
    async press(button) {
      await page.locator(`#${button}:not([aria-busy])`).click();
    },
    async say(text) {
      await page.locator('#text').fill(text);
      await demo.press('send');
    },
    async level(devices = 9) {
      const before = await checks();
      const isLevel = async (): Promise<boolean> =>
        (await checks()) > before && (await page.locator('#level').innerText()) === `${devices} of 9 devices level`;
      await eventually(isLevel).toBe(true);
      expect(await page.locator('#checks').innerText()).toMatch(/ checks, 0 wrong$/);
    },
  };
  await demo.level();
  return demo;
}
