import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runNode, runProgram } from '../support/server-process.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** Data folders that no server can start on: each is named in one line of the log, together with the setting. */
const KEYS = { TIDEMARK_API_KEY: 'k'.repeat(32), TIDEMARK_TOKEN_SECRET: 's'.repeat(32) };

const settingsOf = (dataDir: string, keys = {}) => ({ TIDEMARK_PORT: '0', TIDEMARK_DATA_DIR: dataDir, ...keys });

/** Why the server says that it cannot start. That line is written at once, so it may overtake one that is under way. */
function reasonOf(lines: readonly string[], dataDir: string): string {
  const fatal = lines.find((line) => line.includes('"level":"fatal"')) ?? '';
  const { err } = JSON.parse(fatal) as { err: { message: string } };
  const start = `cannot use ${dataDir}, the folder that TIDEMARK_DATA_DIR names: `;
  expect(err.message.slice(0, start.length)).toBe(start);
  return err.message.slice(start.length);
}

for (const [what, keys] of [
  ['keys that are made', {}],
  ['configured keys', KEYS],
] as const) {
  test(`a folder in which none can be made, and one that is a file, with ${what}`, async () => {
    const file = join(tempFolder(), 'file');
    writeFileSync(file, '');
    // On Linux a folder where the system says of each new one that something above it is missing.
    for (const dataDir of ['/proc/tidemark', file, join(file, 'data')]) {
      const server = runNode(['src/main.ts'], settingsOf(dataDir, keys));
      expect(await server.exit).toBe(1);
      expect(reasonOf(server.lines, dataDir)).not.toBe('');
      expect(server.errors()).toBe('');
    }
  });
}

describe('on a file system of its own', (): void => {
  const refusal = whyNoMounts();

  for (const [what, mount, reason] of [
    ['is read-only', 'size=1m,ro', /^EROFS/],
    ['has no room for the keys', 'size=4k', /^ENOSPC/],
    ['has no room for the schema', 'size=64k', /disk is full/],
    ['has room for no more files', 'nr_inodes=4', /truth\.sqlite\.lock cannot be locked/],
  ] as const) {
    test(`that ${what}`, async (context) => {
      if (refusal !== null) context.skip(refusal);
      const dataDir = tempFolder();
      const script = `mount -t tmpfs -o ${mount} none "$TIDEMARK_DATA_DIR" && exec "$0" src/main.ts`;
      const server = runProgram('unshare', ['-rm', 'sh', '-c', script, process.execPath], {
        ...settingsOf(dataDir),
        PATH: process.env['PATH'] ?? '',
      });
      expect(await server.exit).toBe(1);
      expect(reasonOf(server.lines, dataDir)).toMatch(reason);
    });
  }
});

/** Mounts that only the server sees need Linux, and a system that lets its users make them. */
function whyNoMounts(): string | null {
  try {
    execFileSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt'], { stdio: 'pipe' });
    return null;
  } catch (error) {
    return `no file system can be mounted here: ${(error as Error).message.split('\n')[0]}`;
  }
}
