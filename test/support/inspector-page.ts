import type { Browser, Locator, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';

/** The inspector as somebody sees it who has typed the key and the user's id, with the keyboard alone. */
export interface InspectorPage {
  readonly page: Page;
  /** What the browser complained about. */
  readonly complaints: readonly string[];
  readonly look: (user: string) => Promise<void>;
  readonly row: (conv: string) => Locator;
  /** Of the table of sides: truth, state, then the devices. */
  readonly side: (name: string) => Promise<string[]>;
  /** Everything shown in red. */
  readonly wrong: () => Promise<string[]>;
  readonly text: (id: string) => Promise<string>;
}

const RED =
  '[data-tone="wrong"], [data-verdict="wrong"] .verdict, [data-verdict="wrong"] .differs, #notice:not([hidden])';

export async function openInspector(browser: Browser, url: string, key: string): Promise<InspectorPage> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('dialog', (dialog) => {
    complaints.push(dialog.message());
    void dialog.dismiss();
  });
  await page.goto(`${url}/inspect`);
  await page.keyboard.type(key);
  await page.keyboard.press('Enter');
  return {
    page,
    complaints,
    async look(user) {
      await page.locator('h1').click();
      await page.keyboard.press('/');
      await page.keyboard.insertText(user);
      await page.keyboard.press('Enter');
    },
    row: (conv) => page.locator(`#rows [data-conv=${JSON.stringify(conv)}]`),
    side: (name) => page.locator(`#sides td[data-side="${name}"]`).allTextContents(),
    wrong: () => page.locator(RED).allTextContents(),
    text: (id) => page.locator(`#${id}`).innerText(),
  };
}
