import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type Found, need, NEED_TIMEOUT_MS } from './debian.ts';

/** Chromium asks its makers for updates and variations; a test talks to the server under test and to nobody else. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-domain-reliability',
  '--no-first-run',
];

/** One headless browser for the tests of a file. Where there is none, each of them is skipped and says why. */
export function useBrowser(): () => Browser {
  let found: Found;
  let browser: Browser | undefined;
  beforeAll(async () => {
    found = await need('chromium');
    if ('path' in found) browser = await chromium.launch({ executablePath: found.path, args: ARGUMENTS });
  }, NEED_TIMEOUT_MS);
  afterAll(() => browser?.close());
  beforeEach((context) => {
    if ('reason' in found) context.skip(found.reason);
  });
  return () => {
    if (browser === undefined) throw new Error('there is no browser');
    return browser;
  };
}
