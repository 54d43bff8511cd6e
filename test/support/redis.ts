import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '../../loadtest/free-port.ts';
import { need } from './debian.ts';
import { listening } from '../../loadtest/port-watch.ts';

export interface RedisServer {
  /** redis://127.0.0.1:PORT */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** For looking and for making trouble; the product has connections of its own. */
  readonly admin: Redis;
  /** SIGKILL. Whatever was not saved is gone. */
  kill(): Promise<void>;
  /** Again, on the same port and folder. */
  start(): Promise<void>;
  /** SIGSTOP: connections stay, and nothing is answered. */
  pause(): void;
  resume(): void;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 60_000;

/** A Redis (or Valkey) server of its own, in a temporary folder, on a free port; nothing is saved unless the options say so. */
export async function startRedis(options: readonly string[] = []): Promise<RedisServer> {
  const program = await need('redis');
  if ('reason' in program) throw new Error(program.reason);
  const { path } = program;
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-redis-'));
  const log = join(folder, 'log');
  const port = Number(await freePort());
  const standard = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'];
  // A replica is served when it asks, not after the seconds in which others might come.
  standard.push('--repl-diskless-sync-delay', '0');
  let child: ChildProcess | null = null;

  async function start(): Promise<void> {
    const output = openSync(log, 'a');
    const started = spawn(path, [...standard, ...options], { stdio: ['ignore', output, output] });
    child = started;
    await listening(port, START_TIMEOUT_MS, () =>
      started.exitCode === null && started.signalCode === null
        ? null
        : `redis-server ended: ${readFileSync(log, 'utf8').trim().split('\n').slice(-3).join(' / ')}`,
    );
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    child.kill('SIGCONT');
    await exited;
  }

  await start();
  const admin = new Redis({ port, host: '127.0.0.1', maxRetriesPerRequest: null });
  // It comes back by itself where a test takes its server away.
  admin.on('error', () => {});
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    admin,
    get pid() {
      return child?.pid ?? 0;
    },
    kill: () => end('SIGKILL'),
    start,
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    async stop() {
      admin.disconnect();
      await end('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
