import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Time for the packages to be installed, too. */
const START_TIMEOUT_MS = 12 * 60_000;
const LOOK_MS = 25;

/** The server that all test files of one run share, started by whoever is first: mysql://root@127.0.0.1:PORT/ */
export async function sharedMariadb(): Promise<string> {
  // Test files run in processes of their own, which have the run as their parent; whoever starts many runs may be named instead.
  const run = process.env['TEST_SERVERS_OF'] ?? String(process.ppid);
  const folder = join(tmpdir(), `tidemark-mariadb-of-${run}`);
  if (isFirst(folder)) {
    const keeper = join(import.meta.dirname, 'mariadb-keeper.ts');
    spawn(process.execPath, [keeper, folder, run], { stdio: 'ignore', detached: true }).unref();
  }
  const untilMs = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < untilMs) {
    const fault = join(folder, 'fault');
    if (existsSync(fault)) throw new Error(readFileSync(fault, 'utf8'));
    const url = join(folder, 'url');
    if (existsSync(url)) return readFileSync(url, 'utf8');
    await sleep(LOOK_MS);
  }
  throw new Error('the MariaDB server of this run did not start in time');
}

function isFirst(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
}
