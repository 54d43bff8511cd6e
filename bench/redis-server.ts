/** A Redis of the bench's own, in a temporary folder, and what its processor spends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { freePort } from '../loadtest/free-port.ts';
import type { Fence, FenceStore, StateStore } from '../src/ports.ts';
import { openRedis } from '../src/state/redis/open.ts';
import { systemClock, systemRandom } from '../src/system.ts';

export interface BenchRedis {
  /** As a client without our adapter sees it. */
  readonly plain: Redis;
  readonly state: StateStore;
  /** Seconds of processor that the server has spent since it started. */
  serverSeconds(): number;
  close(): Promise<void>;
}

const STARTED_WITHIN_MS = 10_000;
/** USER_HZ, which is 100 on Linux whatever its kernel was built with. */
const TICKS_A_SECOND = 100;
/** What docs/OPERATIONS.md recommends: hashes of users with many conversations stay in their compact form. */
const SETTINGS = ['--hash-max-listpack-entries', '1100', '--hash-max-listpack-value', '96'];

export interface RedisProcess {
  readonly port: number;
  serverSeconds(): number;
  stop(): Promise<void>;
}

export async function startRedis(): Promise<RedisProcess> {
  const folder = mkdtempSync(path.join(tmpdir(), 'tidemark-bench-'));
  const port = Number(await freePort());
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', ...SETTINGS];
  const server = spawn('redis-server', options, { stdio: 'ignore' });
  await listening(port, server);
  return {
    port,
    serverSeconds: () => secondsOf(server.pid),
    async stop() {
      server.kill();
      await once(server, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function openBenchRedis(): Promise<BenchRedis> {
  const server = await startRedis();
  const { port } = server;
  const fences = new Map<number, Fence>();
  const fence: FenceStore = {
    read: () => Promise.resolve(fences),
    raise(partition, _expected, next) {
      fences.set(partition, next);
      return Promise.resolve(true);
    },
  };
  const { state, wakeup } = await openRedis({
    url: `redis://127.0.0.1:${port}`,
    clock: systemClock,
    random: systemRandom,
    fence,
    comparisonMs: 25_000,
    onError: (error) => {
      throw error;
    },
  });
  const plain = new Redis({ port, host: '127.0.0.1' });
  return {
    plain,
    state,
    serverSeconds: () => server.serverSeconds(),
    async close() {
      await wakeup.close();
      await state.close();
      plain.disconnect();
      await server.stop();
    },
  };
}

async function listening(port: number, server: ChildProcess): Promise<void> {
  const untilMs = performance.now() + STARTED_WITHIN_MS;
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return;
    } catch (error) {
      if (server.exitCode !== null || performance.now() > untilMs) throw error;
      await sleep(20);
    } finally {
      socket.destroy();
    }
  }
}

/** proc(5), stat: utime and stime are the 14th and 15th field; the name, in brackets, may hold blanks. */
export function secondsOf(pid: number | undefined): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
}
