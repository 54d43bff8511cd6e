import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '../../loadtest/free-port.ts';
import { need } from './debian.ts';
import { listening } from '../../loadtest/port-watch.ts';
import type { RedisServer } from './redis.ts';

export interface RedisSentinel {
  /** redis+sentinel://127.0.0.1:PORT/main */
  readonly url: string;
  readonly admin: Redis;
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 60_000;
/** More than a master may stand still on a busy machine: no other is to take its place before the test has killed it. */
const DOWN_AFTER_MS = 3000;

/** One Sentinel that watches a master, and needs nobody's agreement to put a replica in its place. */
export async function startRedisSentinel(master: RedisServer): Promise<RedisSentinel> {
  const program = await need('redis');
  if ('reason' in program) throw new Error(program.reason);
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-sentinel-'));
  const port = await freePort();
  const settings = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor main 127.0.0.1 ${master.port} 1`,
    `sentinel down-after-milliseconds main ${DOWN_AFTER_MS}`,
    'sentinel failover-timeout main 5000',
  ];
  const file = join(folder, 'sentinel.conf');
  writeFileSync(file, `${settings.join('\n')}\n`);
  const child: ChildProcess = spawn(program.path, [file, '--sentinel'], { stdio: 'ignore' });
  await listening(Number(port), START_TIMEOUT_MS, () => (child.exitCode === null ? null : 'the Sentinel ended'));
  const admin = new Redis({ port: Number(port), host: '127.0.0.1' });
  return {
    admin,
    url: `redis+sentinel://127.0.0.1:${port}/main`,
    async stop() {
      admin.disconnect();
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
