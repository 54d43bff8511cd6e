// Browsers of one user on the running product: contexts are browsers with a store of their own, pages are their tabs.
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import type { TidemarkClient } from '../../client/index.ts';
import type { ScreenApp, Shown } from './client-screen.ts';
import { eventually } from './demo-page.ts';
import { signedToken } from './product.ts';
import type { Product } from './product.ts';
import { ROOT } from './source-tree.ts';
import { trueInOrder } from './true-numbers.ts';

declare const screenApp: ScreenApp;
declare const tidemark: TidemarkClient;

export interface BrowserOptions {
  user?: string;
  tokenMs?: number;
  /** What the app's endpoint answers; `asked`: how often it was asked before, by all tabs. Default: a good token of the tab's user. */
  token?: (asked: number) => string | Promise<string>;
  /** Where the pages come from. Default: the product. */
  origin?: string;
  /** The app, from test/support. */
  script?: string;
  /** In the browser's own context: one after another, since they share it. */
  isPlain?: boolean;
}

/** To the user of the browsers, in a conversation that it makes if need be. */
export function message(conv: string, id: string, more: object = {}): object {
  return {
    type: 'message.created',
    conv,
    message_id: `${conv}-${id}`,
    sender: 'u2',
    members: ['u1', 'u2'],
    ...more,
  };
}

/** A bound on a hang: of what the browser does by itself, such as to load a page. */
const PATIENCE_MS = 60_000;

export async function bundled(script: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, 'test/support', script)],
    define: { 'process.env.NODE_ENV': '"development"' },
    bundle: true,
    format: 'iife',
    target: 'es2024',
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}

export async function openContext(browser: Browser, product: Product, options: BrowserOptions = {}) {
  const { user = 'u1', tokenMs, token, origin = product.url, script = 'client-screen.ts', isPlain = false } = options;
  const [own] = browser.contexts();
  const context = isPlain && own !== undefined ? own : await browser.newContext();
  context.setDefaultTimeout(PATIENCE_MS);
  onTestFinished(() => (isPlain ? closePages(context) : context.close()));
  const source = await bundled(script);
  const reasons: string[] = [];
  const tab = async (settings: object = {}, tabUser = user): Promise<Screen> => {
    const page = await context.newPage();
    await page.exposeFunction('tokenFor', (reason: string) => {
      const asked = reasons.push(reason) - 1;
      return token?.(asked) ?? signedToken(tabUser, tokenMs);
    });
    const screen = new Screen(page, { origin, source, settings });
    await screen.load();
    return screen;
  };
  return { context, reasons, tab };
}

async function closePages(context: BrowserContext): Promise<void> {
  await Promise.all(context.pages().map((page) => page.close()));
}

export class Screen {
  readonly page: Page;
  readonly #from: { origin: string; source: string; settings: object };

  constructor(page: Page, from: { origin: string; source: string; settings: object }) {
    this.page = page;
    this.#from = from;
  }

  /** Again, too. */
  async load(): Promise<void> {
    const { origin, source, settings } = this.#from;
    // Any page of the origin: one that a test makes up has no address, and the browser keeps it from local servers.
    await this.page.goto(`${origin}/healthz`);
    await this.page.evaluate(() => document.body.replaceChildren());
    await this.page.evaluate(source);
    await this.page.evaluate((given) => {
      Object.assign(globalThis, { tidemark: screenApp.start(given) });
    }, settings);
  }

  async text(what: string): Promise<string | null> {
    return this.page.evaluate((id) => document.getElementById(id)?.textContent ?? null, what);
  }

  /** Of all of them, in one look. */
  async texts(whats: readonly string[]): Promise<Record<string, string | null>> {
    return this.page.evaluate(
      (ids) => Object.fromEntries(ids.map((id) => [id, document.getElementById(id)?.textContent ?? null])),
      whats,
    );
  }

  async live(): Promise<void> {
    await eventually(() => this.text('state')).toBe('live');
  }

  async shows(what: string, text: number): Promise<void> {
    await eventually(() => this.text(what)).toBe(String(text));
  }

  async read(conv: string): Promise<void> {
    await this.page.evaluate((id) => tidemark.markRead(id), conv);
  }

  async settled(): Promise<void> {
    await eventually(() => this.page.evaluate(() => tidemark.pending().length)).toBe(0);
  }

  /** Sockets opened to the server since the page was loaded. */
  async sockets(): Promise<number> {
    return this.page.evaluate(() => screenApp.sockets());
  }

  async faults(): Promise<string[]> {
    return this.page.evaluate(() => screenApp.faults);
  }

  /** Everything that the screen showed since the page was loaded. */
  async shown(): Promise<Shown[]> {
    return this.page.evaluate(() => screenApp.shown);
  }

  /** Puts a number on the screen that is not the client's. */
  async flicker(what: string, text: string): Promise<void> {
    await this.page.evaluate(
      ([id = '', other = '']) => {
        const before = document.getElementById(id)?.textContent ?? '';
        screenApp.show(id, other);
        return new Promise((resolve) => {
          setTimeout(() => resolve(screenApp.show(id, before)), 0);
        });
      },
      [what, text],
    );
  }
}

/** Its renderer; tabs beside it go on. */
export async function crash(context: BrowserContext, { page }: Screen): Promise<void> {
  const crashed = page.waitForEvent('crash');
  const devtools = await context.newCDPSession(page);
  devtools.send('Page.crash').catch(() => {});
  await crashed;
}

/** Commands in the database of the page's browser. */
export async function storedCommands(screen: Screen): Promise<number> {
  return screen.page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const request = indexedDB.open('tidemark');
        // Where there is none, none is made: an empty one would be in the client's way.
        request.onupgradeneeded = () => request.transaction?.abort();
        request.onerror = () => resolve(0);
        request.onsuccess = () => {
          const read = request.result.transaction('standing').objectStore('standing').get(0);
          read.onsuccess = () => {
            request.result.close();
            resolve((read.result as { commands: unknown[] } | undefined)?.commands.length ?? 0);
          };
        };
      }),
  );
}

/** The numbers of a user as they were one after the other, each taken when what caused it had been answered. */
export class TruthLog {
  readonly #product: Product;
  readonly #user: string;
  readonly #numbers = new Map<string, number[]>();

  constructor(product: Product, user = 'u1') {
    this.#product = product;
    this.#user = user;
  }

  async note(): Promise<void> {
    const { total, badge, mentions, rows } = await this.#product.unread(this.#user);
    this.#add('total', total);
    this.#add('badge', badge);
    this.#add('mentions', mentions);
    for (const { conv, unread } of rows) this.#add(conv, unread);
  }

  async post(...events: object[]): Promise<void> {
    await this.#product.post(...events);
    await this.note();
  }

  /** What was shown and not true at any moment since the number before it; empty when all was well. */
  async lies(screen: Screen): Promise<string[]> {
    const shown = await screen.shown();
    return [...this.#numbers].flatMap(([what, truth]) =>
      trueInOrder(
        shown.filter(([id]) => id === what).map(([, text]) => Number(text)),
        truth,
      ).map((lie) => `${what}: ${lie}`),
    );
  }

  /** The screen comes to show what the server counts, and showed nothing else on the way. */
  async holds(screen: Screen): Promise<void> {
    await this.note();
    await screen.live();
    await screen.settled();
    const due = Object.fromEntries([...this.#numbers].map(([what, truth]) => [what, String(truth.at(-1) ?? 0)]));
    await eventually(() => screen.texts(Object.keys(due))).toEqual(due);
    expect(await this.lies(screen)).toEqual([]);
  }

  #add(what: string, number: number): void {
    const numbers = this.#numbers.get(what) ?? [];
    this.#numbers.set(what, numbers);
    if (numbers.at(-1) !== number) numbers.push(number);
  }
}
