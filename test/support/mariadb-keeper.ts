/**
 * node test/support/mariadb-keeper.ts FOLDER PID
 *
 * Keeps one MariaDB server running for as long as the process PID lives, however that ends, and says where in FOLDER/url.
 */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startMariadb } from './mariadb.ts';

const LOOK_MS = 250;
const [, , folder = '', pid = ''] = process.argv;

try {
  const server = await startMariadb();
  say('url', server.url);
  while (isAlive(Number(pid))) await sleep(LOOK_MS);
  await server.stop();
} catch (error) {
  say('fault', error instanceof Error ? error.message : String(error));
  while (isAlive(Number(pid))) await sleep(LOOK_MS);
}
rmSync(folder, { recursive: true, force: true });

/** Whole or not at all. */
function say(name: string, text: string): void {
  writeFileSync(join(folder, `${name}.part`), text);
  renameSync(join(folder, `${name}.part`), join(folder, name));
}

function isAlive(process_: number): boolean {
  try {
    process.kill(process_, 0);
    return true;
  } catch {
    return false;
  }
}
