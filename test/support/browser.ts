import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
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

interface Running {
  browser: Browser;
  end(): Promise<void>;
}

/** A bound on a hang; the first start after an installation reads some hundred MB. */
const START_TIMEOUT_MS = 120_000;

/** One headless browser for the tests of a file. Where there is none, each of them is skipped and says why. */
export function useBrowser(): () => Browser {
  return useRunning(async (executablePath) => {
    const browser = await chromium.launch({ executablePath, args: ARGUMENTS, timeout: START_TIMEOUT_MS });
    return { browser, end: () => browser.close() };
  });
}

/**
 * The same, left as it is: in its own context, `contexts()[0]`, a tab is not held to be looked at for ever, so that it can be
 * frozen.
 */
export function usePlainBrowser(): () => Browser {
  return useRunning(async (path) => {
    const profile = mkdtempSync(join(tmpdir(), 'tidemark-profile-'));
    // Containers have little of what is shared memory by default.
    const own = ['--headless', '--disable-dev-shm-usage', '--remote-debugging-port=0', `--user-data-dir=${profile}`];
    const args = [...ARGUMENTS, ...own];
    const child = spawn(path, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    const exit = once(child, 'close');
    const address = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stderr }).on('line', (line) => {
        const [, url] = /^DevTools listening on (ws:.*)$/.exec(line) ?? [];
        if (url !== undefined) resolve(url);
      });
      void exit.then(() => reject(new Error('the browser ended')));
    });
    const browser = await chromium.connectOverCDP(address, { noDefaults: true, timeout: START_TIMEOUT_MS });
    const end = async (): Promise<void> => {
      await browser.close();
      child.kill();
      await exit;
      rmSync(profile, { recursive: true, force: true });
    };
    return { browser, end };
  });
}

function useRunning(start: (path: string) => Promise<Running>): () => Browser {
  let found: Found;
  let running: Running | undefined;
  beforeAll(async () => {
    found = await need('chromium');
    if ('path' in found) running = await start(found.path);
  }, NEED_TIMEOUT_MS);
  afterAll(() => running?.end());
  beforeEach((context) => {
    if ('reason' in found) context.skip(found.reason);
  });
  return () => {
    if (running === undefined) throw new Error('there is no browser');
    return running.browser;
  };
}
