import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';
import { listening } from './port-watch.ts';

export interface MariadbServer {
  /** mysql://root@127.0.0.1:PORT/ */
  readonly url: string;
  readonly pid: number;
  /** SIGKILL: what has been committed is there again after `start`, on the same port. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 60_000;

/** A MariaDB server of its own, in a temporary folder, on a free port. Only from this machine, and without a password. */
export async function startMariadb(program = 'mariadbd', options: readonly string[] = []): Promise<MariadbServer> {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-mariadb-'));
  const data = join(folder, 'data');
  const log = join(folder, 'log');
  const user = process.getuid?.() === 0 ? ['--user=root'] : [];
  await promisify(execFile)(
    'mariadb-install-db',
    ['--no-defaults', ...user, `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db'],
    { maxBuffer: 64 * 1024 * 1024 },
  );
  const port = Number(await freePort());
  let child: ChildProcess | null = null;

  async function start(): Promise<void> {
    const output = openSync(log, 'a');
    const started = spawn(
      program,
      [
        '--no-defaults',
        ...user,
        `--datadir=${data}`,
        `--socket=${join(folder, 'socket')}`,
        `--port=${port}`,
        '--bind-address=127.0.0.1',
        '--skip-name-resolve',
        '--max-connections=500',
        ...options,
      ],
      { stdio: ['ignore', output, output] },
    );
    child = started;
    const ended = (): string | null =>
      started.exitCode === null && started.signalCode === null
        ? null
        : `mariadbd ended: ${readFileSync(log, 'utf8').trim().split('\n').slice(-3).join(' / ')}`;
    await listening(port, START_TIMEOUT_MS, ended);
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  await start();
  return {
    url: `mysql://root@127.0.0.1:${port}/`,
    get pid() {
      return child?.pid ?? 0;
    },
    kill: () => end('SIGKILL'),
    start,
    async stop() {
      await end('SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
