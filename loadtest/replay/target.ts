/** The server that is played against: one of our own making (which may be killed), or one that is told by address and keys. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

export interface Keys {
  readonly apiKey: string;
  readonly tokenSecret: string;
}

const READY_WITHIN_MS = 30_000;
const RETRY_MS = 100;
/** A request that is not answered within this is sent again. */
const REQUEST_MS_MAX = 30_000;
const PORT_MIN = 16_384;
const PORT_MAX = 32_767;
const TOKEN_SECONDS = 24 * 3600;

export class Target {
  readonly url: string;
  readonly #keys: Keys;
  readonly #host: ServerProcess | null;
  #retries = 0;

  private constructor(url: string, keys: Keys, host: ServerProcess | null) {
    this.url = url;
    this.#keys = keys;
    this.#host = host;
  }

  static at(url: string, keys: Keys): Target {
    return new Target(url.replace(/\/$/, ''), keys, null);
  }

  static async start(program: string): Promise<Target> {
    const keys = { apiKey: randomBytes(24).toString('hex'), tokenSecret: randomBytes(32).toString('hex') };
    const host = new ServerProcess(program, keys);
    return new Target(await host.start(), keys, host);
  }

  /** SIGKILL, as a crash would; then the same data folder and port again. */
  async crash(): Promise<void> {
    if (!this.#host) throw new Error('a server that was not started here is not killed');
    await this.#host.kill('SIGKILL');
    await this.#host.start();
  }

  async stop(): Promise<void> {
    await this.#host?.kill('SIGTERM');
    this.#host?.removeData();
  }

  /** Requests that had to be sent again. */
  get retries(): number {
    return this.#retries;
  }

  tokenOf(user: string): string {
    const seconds = Math.floor(Date.now() / 1000);
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ sub: user, iat: seconds, exp: seconds + TOKEN_SECONDS })}`;
    return `${text}.${createHmac('sha256', this.#keys.tokenSecret).update(text).digest('base64url')}`;
  }

  /** Sends until it is answered: what is refused for the moment or cut off is sent again, which idempotency makes harmless. */
  async request<T>(method: string, route: string, body?: unknown): Promise<T> {
    for (;;) {
      const answer = await this.#once(method, route, body);
      if (answer && answer.status < 300) return answer.json as T;
      if (answer && answer.status !== 429 && answer.status !== 503) {
        throw new Error(`${method} ${route} answered ${answer.status}: ${JSON.stringify(answer.json)}`);
      }
      this.#retries++;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  async #once(method: string, route: string, body: unknown): Promise<{ status: number; json: unknown } | null> {
    try {
      const response = await fetch(this.url + route, {
        method,
        headers: { authorization: `Bearer ${this.#keys.apiKey}`, 'content-type': 'application/json' },
        signal: AbortSignal.timeout(REQUEST_MS_MAX),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, json: await response.json() };
    } catch (error) {
      // The link broke: whether the server did the work is not known. Everything else is a fault of this program.
      if (error instanceof TypeError || (error instanceof DOMException && error.name === 'TimeoutError')) return null;
      throw error;
    }
  }
}

class ServerProcess {
  readonly #program: string;
  readonly #keys: Keys;
  readonly #dataDir = mkdtempSync(path.join(tmpdir(), 'tidemark-replay-'));
  #port: string | null = null;
  #child: ChildProcess | null = null;

  constructor(program: string, keys: Keys) {
    this.#program = program;
    this.#keys = keys;
  }

  async start(): Promise<string> {
    this.#port ??= await freePort();
    const child = spawn(process.execPath, [this.#program], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        PATH: process.env['PATH'],
        TIDEMARK_HOST: '127.0.0.1',
        TIDEMARK_PORT: this.#port,
        TIDEMARK_DATA_DIR: this.#dataDir,
        TIDEMARK_API_KEY: this.#keys.apiKey,
        TIDEMARK_TOKEN_SECRET: this.#keys.tokenSecret,
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

  removeData(): void {
    rmSync(this.#dataDir, { recursive: true, force: true });
  }
}

/**
 * A free port below those that systems give to outgoing connections: while the server is down, a device that dials a port of that
 * range can be given the very same one, which connects it to itself and keeps the server from coming back.
 */
async function freePort(): Promise<string> {
  for (;;) {
    const port = PORT_MIN + Math.floor(Math.random() * (PORT_MAX - PORT_MIN));
    const server = createServer();
    try {
      await once(server.listen(port, '127.0.0.1'), 'listening');
      return String(port);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    } finally {
      server.close();
    }
  }
}

function readyUrl(line: string): string | null {
  if (!line.startsWith('{')) return null;
  const said = JSON.parse(line) as { msg?: string; url?: string };
  return said.msg === 'ready' && said.url ? said.url.replace(/\/$/, '') : null;
}
