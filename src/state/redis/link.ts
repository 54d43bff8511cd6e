import type { Redis } from 'ioredis';
import { Bug, Unavailable } from '../../errors.ts';
import type { Clock } from '../../ports.ts';
import { scripts, type Script } from './script-files.ts';

/** Which copy of the data answers on a connection: a restart changes the run id, a promotion the replication id. */
export interface Copy {
  readonly runId: string;
  readonly replId: string;
}

export type Reply = Buffer | string | number | null | Reply[];
export type Argument = string | Buffer;

export interface LinkDeps {
  readonly clock: Clock;
  /** Called with every new connection, before its first command: compares the copy with the fences of truth. */
  readonly admit: (link: Link) => Promise<void>;
  /** Told of what keeps a connection from being opened. */
  readonly onError: (error: unknown) => void;
  /** A connection was lost, or an answer says that another server is to be asked. */
  readonly onMoved: () => void;
}

const RETRY_MS = 250;
const GREET_AGAIN_MS = 500;
/** Sharded publish/subscribe, and INFO with all that is asked for. */
const OLDEST_VERSION = 7;
const NOT_MINE = /^(MOVED|ASK|CLUSTERDOWN|READONLY|MASTERDOWN)\b/;
const OUR_FAULT = /^(ERR|WRONGTYPE)\b/;

/**
 * One connection to one master. It is open for commands only while the copy behind it has been compared with the fences (ARCHITECTURE, truth and state):
 *
 *     down ──ready──▶ greeting: INFO, scripts, fences ──▶ open
 *       ▲                                                  │
 *       └───────────────── close, reset ◀──────────────────┘
 *
 * Nothing is queued while it is not open, and nothing is sent again: whether a command that broke off was carried out is not known.
 */
export class Link {
  readonly #redis: Redis;
  readonly #deps: LinkDeps;
  #copy: Copy | null = null;
  #isOpen = false;
  #isClosed = false;
  #corked: Redis['stream'] | null = null;
  /** Rises with every connection: what was begun on an older one is over. */
  #connections = 0;
  #openListeners: (() => void)[] = [];

  constructor(redis: Redis, deps: LinkDeps) {
    this.#redis = redis;
    this.#deps = deps;
    redis.on('ready', () => {
      this.#connections++;
      void this.#greet(this.#connections);
    });
    redis.on('close', () => {
      this.#shut();
      deps.onMoved();
    });
    redis.on('error', deps.onError);
    // The driver ends for good when its watch over the Sentinels cuts a connection that is just being made.
    redis.on('end', () => {
      if (!this.#isClosed) deps.clock.after(GREET_AGAIN_MS, () => this.#connectAgain());
    });
  }

  /** The copy behind the present connection; null while it is not known. */
  get copy(): Copy | null {
    return this.#copy;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Resolves as soon as it is open; at once if it is. */
  opened(): Promise<void> {
    return this.#isOpen ? Promise.resolve() : new Promise((resolve) => this.#openListeners.push(resolve));
  }

  async run(script: Script, keys: readonly string[], args: readonly Argument[]): Promise<Reply> {
    if (keys.length < script.keys.names.length || args.length < script.args.names.length) {
      throw new Bug(`${script.name}.lua was given too little`);
    }
    try {
      return await this.send('EVALSHA', script.sha, String(keys.length), ...keys, ...args);
    } catch (error) {
      if (
        !(error instanceof Unavailable) ||
        !String((error.cause as Error | undefined)?.message).startsWith('NOSCRIPT')
      )
        throw error;
      return this.send('EVAL', script.text, String(keys.length), ...keys, ...args);
    }
  }

  /** Throws Unavailable where the server is away, slow, or not the one to be asked. */
  send(command: string, ...args: readonly Argument[]): Promise<Reply> {
    if (!this.#isOpen) return Promise.reject(new Unavailable('the state store is away', RETRY_MS));
    return this.#call(command, args);
  }

  /** Whether the server behind the connection is still the same copy. Throws as `send`. */
  async isSameCopy(): Promise<boolean> {
    const copy = this.#copy;
    const info = await this.#info();
    return info !== null && copy !== null && info.runId === copy.runId && info.replId === copy.replId;
  }

  /** Cuts the connection and makes a new one. One that is being made is left alone: cut then, the driver gives up by Sentinel for good. */
  reset(): void {
    this.#shut();
    if (this.#redis.status === 'ready') this.#redis.disconnect(true);
  }

  close(): void {
    this.#isClosed = true;
    this.#shut();
    this.#redis.disconnect();
  }

  #connectAgain(): void {
    if (this.#isClosed || this.#redis.status !== 'end') return;
    this.#redis.connect().catch(this.#deps.onError);
  }

  #shut(): void {
    this.#isOpen = false;
    this.#copy = null;
  }

  async #greet(connection: number): Promise<void> {
    try {
      const copy = await this.#info();
      if (connection !== this.#connections) return;
      if (copy === null) throw new Unavailable('the server is no master, or still loading', RETRY_MS);
      this.#copy = copy;
      await Promise.all(Object.values(scripts).map(({ text }) => this.#call('SCRIPT', ['LOAD', text])));
      await this.#deps.admit(this);
      if (connection !== this.#connections || this.#copy !== copy) return;
      this.#isOpen = true;
      for (const resolve of this.#openListeners.splice(0)) resolve();
    } catch (error) {
      this.#deps.onError(error);
      this.#deps.clock.after(GREET_AGAIN_MS, () => {
        // A new connection, since by Sentinel or by name another server may be the one by now.
        if (connection === this.#connections) this.reset();
      });
    }
  }

  /** Null: not a master, or not ready. */
  async #info(): Promise<Copy | null> {
    const text = String(await this.#call('INFO', ['everything']));
    const field = (name: string): string => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(text)?.[1] ?? '';
    const version = field('redis_version');
    if (Number.parseInt(version, 10) < OLDEST_VERSION) {
      throw new Unavailable(`the state store is Redis ${version}; needed is at least ${OLDEST_VERSION}.0`, RETRY_MS);
    }
    if (field('role') !== 'master' || field('loading') !== '0') return null;
    return { runId: field('run_id'), replId: field('master_replid') };
  }

  async #call(command: string, args: readonly Argument[]): Promise<Reply> {
    this.#cork();
    try {
      return (await this.#redis.callBuffer(command, ...args)) as Reply;
    } catch (error) {
      throw this.#understood(error);
    }
  }

  /** Commands of one moment go out as one write. */
  #cork(): void {
    const { stream } = this.#redis;
    if (this.#corked === stream || !stream) return;
    this.#corked = stream;
    stream.cork();
    this.#deps.clock.soon(() => {
      if (this.#corked === stream) this.#corked = null;
      stream.uncork();
    });
  }

  #understood(error: unknown): Error {
    const cause = error instanceof Error ? error : new Error(String(error));
    if (OUR_FAULT.test(cause.message)) return new Bug(`the state store refused a command: ${cause.message}`, { cause });
    if (NOT_MINE.test(cause.message)) this.#deps.onMoved();
    return new Unavailable('the state store does not answer', RETRY_MS, 'unavailable', { cause });
  }
}
