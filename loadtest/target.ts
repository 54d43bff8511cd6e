/** What is played against: a server of our own making (which may be killed), or gateways that are told by address and keys. */
import { createHmac, randomBytes } from 'node:crypto';
import { type Keys, ServerProcess } from './server-process.ts';

const RETRY_MS = 100;
/** A request that is not answered within this is sent again. */
const REQUEST_MS_MAX = 30_000;
const TOKEN_SECONDS = 24 * 3600;

export class Target {
  /** Of the gateways; calls and sockets go to them in turn. */
  readonly urls: readonly string[];
  readonly #keys: Keys;
  readonly #host: ServerProcess | null;
  #retries = 0;
  #next = 0;

  private constructor(urls: readonly string[], keys: Keys, host: ServerProcess | null) {
    this.urls = urls;
    this.#keys = keys;
    this.#host = host;
  }

  static at(urls: readonly string[], keys: Keys): Target {
    return new Target(
      urls.map((url) => url.replace(/\/$/, '')),
      keys,
      null,
    );
  }

  static async start(): Promise<Target> {
    const keys = { apiKey: randomBytes(24).toString('hex'), tokenSecret: randomBytes(32).toString('hex') };
    const host = new ServerProcess(keys);
    return new Target([await host.start()], keys, host);
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

  /** CPU time that the server has used so far; null for one that was not started here. */
  cpuSeconds(): number | null {
    return this.#host?.cpuSeconds() ?? null;
  }

  /** Where a device connects, the `n`th time that it does. */
  socketUrl(n: number): string {
    return `${this.#urlInTurn(n).replace(/^http/, 'ws')}/v1/ws`;
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

  #urlInTurn(n: number): string {
    return this.urls[n % this.urls.length] as string;
  }

  async #once(method: string, route: string, body: unknown): Promise<{ status: number; json: unknown } | null> {
    try {
      const response = await fetch(this.#urlInTurn(this.#next++) + route, {
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
