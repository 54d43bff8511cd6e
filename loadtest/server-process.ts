import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from './free-port.ts';

export interface Keys {
  readonly apiKey: string;
  readonly tokenSecret: string;
}

/** Of Node, as `npm start` and the image have them: a young generation of 8 MiB, in place of one that grows to 16 and stays there. */
export const NODE_FLAGS = ['--max-semi-space-size=8'];
const PROGRAM = path.join(import.meta.dirname, '../src/main.ts');
const READY_WITHIN_MS = 30_000;
/** Fields of /proc/PID/stat behind the name of the program, which ends with the last bracket (proc(5)). */
const STAT_USER_TICKS = 11;
const STAT_SYSTEM_TICKS = 12;
/** USER_HZ, the same on every architecture that Node runs on. */
const TICKS_A_SECOND = 100;

/** The server in a process of its own, on a port and in a data folder that stay the same over its restarts. */
export class ServerProcess {
  readonly #keys: Keys;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #dataDir = mkdtempSync(path.join(tmpdir(), 'tidemark-load-'));
  #port: string | null = null;
  #child: ChildProcess | null = null;

  /** `settings`: more of its environment. */
  constructor(keys: Keys, settings: Readonly<Record<string, string>> = {}) {
    this.#keys = keys;
    this.#settings = settings;
  }

  /** Answers its URL as soon as it is ready. */
  async start(): Promise<string> {
    this.#port ??= await freePort();
    const child = spawn(process.execPath, [...NODE_FLAGS, PROGRAM], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        PATH: process.env['PATH'],
        TIDEMARK_HOST: '127.0.0.1',
        TIDEMARK_PORT: this.#port,
        TIDEMARK_DATA_DIR: this.#dataDir,
        TIDEMARK_API_KEY: this.#keys.apiKey,
        TIDEMARK_TOKEN_SECRET: this.#keys.tokenSecret,
        ...this.#settings,
      },
    });
    this.#child = child;
    return new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`not ready within ${READY_WITHIN_MS} ms`)), READY_WITHIN_MS);
      child.once('exit', (code, signal) =>
        reject(new Error(`the server ended with ${code ?? signal} before it was ready`)),
      );
      createInterface({ input: child.stdout }).on('line', (line) => {
        const said = readyUrl(line);
        if (said === null) return;
        clearTimeout(timer);
        resolve(said);
      });
    });
  }

  async kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  }

  /** CPU time used so far by the running process, in seconds; null where the system does not tell. */
  cpuSeconds(): number | null {
    const pid = this.#child?.pid;
    if (pid === undefined || process.platform !== 'linux') return null;
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[STAT_USER_TICKS]) + Number(fields[STAT_SYSTEM_TICKS])) / TICKS_A_SECOND;
  }

  removeData(): void {
    rmSync(this.#dataDir, { recursive: true, force: true });
  }
}

function readyUrl(line: string): string | null {
  if (!line.startsWith('{')) return null;
  const said = JSON.parse(line) as { msg?: string; url?: string };
  return said.msg === 'ready' && said.url ? said.url.replace(/\/$/, '') : null;
}
