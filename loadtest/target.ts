/** What is played against: nodes of our own making (which may be killed), or gateways that are told by address and keys. */
import { createHmac, randomBytes } from 'node:crypto';
import { type Keys, ServerProcess } from './server-process.ts';

const RETRY_MS = 100;
/** A request that is not answered within this is sent again. */
const REQUEST_MS_MAX = 30_000;
const TOKEN_SECONDS = 24 * 3600;

export interface StartOptions {
  readonly nodes?: number;
  readonly settings?: Readonly<Record<string, string>>;
}

export class Target {
  /** Of the gateways; calls and sockets go to them in turn. */
  readonly urls: readonly string[];
  readonly #keys: Keys;
  readonly #nodes: readonly ServerProcess[];
  #retries = 0;
  #next = 0;
  #crashes = 0;

  private constructor(urls: readonly string[], keys: Keys, nodes: readonly ServerProcess[]) {
    this.urls = urls;
    this.#keys = keys;
    this.#nodes = nodes;
  }

  static at(urls: readonly string[], keys: Keys): Target {
    return new Target(
      urls.map((url) => url.replace(/\/$/, '')),
      keys,
      [],
    );
  }

  /** `nodes` of them over the stores that `settings` names; one over its embedded store without. */
  static async start({ nodes = 1, settings = {} }: StartOptions = {}): Promise<Target> {
    const keys = { apiKey: randomBytes(24).toString('hex'), tokenSecret: randomBytes(32).toString('hex') };
    const started = Array.from({ length: nodes }, () => new ServerProcess(keys, settings));
    return new Target(await Promise.all(started.map((node) => node.start())), keys, started);
  }

  /** SIGKILL, as a crash would, each time to another node; then the same data folder and port again. */
  async crash(): Promise<void> {
    const node = this.#nodes[this.#crashes++ % this.#nodes.length];
    if (!node) throw new Error('a server that was not started here is not killed');
    await node.kill('SIGKILL');
    await node.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.kill('SIGTERM')));
    for (const node of this.#nodes) node.removeData();
  }

  /** Requests that had to be sent again. */
  get retries(): number {
    return this.#retries;
  }

  /** CPU time that the nodes have used so far; null for those that were not started here. */
  cpuSeconds(): number | null {
    if (this.#nodes.length === 0) return null;
    const seconds = this.#nodes.map((node) => node.cpuSeconds());
    return seconds.some((one) => one === null) ? null : seconds.reduce<number>((sum, one) => sum + (one ?? 0), 0);
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
