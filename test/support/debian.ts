import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { programPath } from '../../loadtest/program-path.ts';

/** Programs that some tests need and that npm cannot bring: by what command they are called, and what Debian package has them. */
const PROGRAMS = {
  chromium: { commands: ['chromium', 'chromium-browser', 'google-chrome'], packages: ['chromium'] },
  mariadb: { commands: ['mariadbd'], packages: ['mariadb-server'] },
  redis: { commands: ['redis-server', 'valkey-server'], packages: ['redis-server'] },
} as const;

export type Program = keyof typeof PROGRAMS;
export const ALL_PROGRAMS = Object.keys(PROGRAMS) as Program[];

/** A program to be run, or why there is none: the reason to skip the test with, as in `t.skip(chromium.reason)`. */
export type Found = { readonly path: string } | { readonly reason: string };

// Chromium is about 100 MB and its libraries as much again.
const INSTALL_TIMEOUT_MS = 10 * 60_000;
/** Of servers, which are not on the PATH of every user. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/usr/local/sbin'];
const found = new Map<Program, Promise<Found>>();

/**
 * Finds the program and, on Debian as root, installs it where it is missing. TEST_INSTALL=never keeps it from installing.
 * A `beforeAll` that calls it needs {@link NEED_TIMEOUT_MS}.
 */
export function need(program: Program): Promise<Found> {
  const known = found.get(program) ?? findOrInstall(program);
  found.set(program, known);
  return known;
}

/**
 * Runs a command that installs packages, one at a time of all test processes: apt refuses a second user instead of waiting.
 * The lock is not handed down (-o): a server that the command leaves running would hold it for ever.
 */
export async function underAptLock(command: readonly string[], timeoutMs: number): Promise<string> {
  const { stdout } = await promisify(execFile)('flock', ['-o', '/var/lock/tidemark-test-apt', ...command], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: timeoutMs,
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout;
}

export const NEED_TIMEOUT_MS = INSTALL_TIMEOUT_MS + 60_000;

async function findOrInstall(program: Program): Promise<Found> {
  const { commands, packages } = PROGRAMS[program];
  const present = onPath(commands);
  if (present !== null) return { path: present };
  const hindrance = cannotInstall();
  if (hindrance !== null) return { reason: `${program} is not installed, and ${hindrance}` };

  const script = `apt-get update -qq && apt-get install -y -qq --no-install-recommends ${packages.join(' ')}`;
  try {
    await underAptLock(['sh', '-c', script], INSTALL_TIMEOUT_MS);
  } catch (error) {
    const output = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
    return { reason: `${packages.join(' ')} could not be installed: ${output.split('\n').at(-1) ?? ''}` };
  }
  const path = onPath(commands);
  return path === null ? { reason: `${packages.join(' ')} brought no ${commands.join(' or ')}` } : { path };
}

function cannotInstall(): string | null {
  if (process.env['TEST_INSTALL'] === 'never') return 'TEST_INSTALL=never forbids installing it';
  if (process.getuid?.() !== 0) return 'only root could install it';
  if (onPath(['apt-get']) === null || onPath(['flock']) === null) return 'there is no apt-get to install it with';
  return null;
}

function onPath(commands: readonly string[]): string | null {
  for (const command of commands) {
    const path = programPath(command, SYSTEM_FOLDERS);
    if (path !== null) return path;
  }
  return null;
}
