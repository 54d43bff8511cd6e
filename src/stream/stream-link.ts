import { join } from 'node:path';
import { Cluster, type Redis } from 'ioredis';
import { Bug, Unavailable } from '../errors.ts';
import type { Random } from '../ports.ts';
import { connectRedis } from '../state/redis/redis-connection.ts';
import { parseRedisUrl, type RedisUrl } from '../state/redis/redis-url.ts';
import { readScript, type Script } from '../state/redis/script-files.ts';

export type Reply = Buffer | number | null | Reply[];
export type Argument = string | number | Buffer;

export interface StreamLinkOptions {
  /** See state/redis/redis-url.ts. Throws where it cannot be read. */
  readonly url: string;
  readonly random: Random;
  /** Told of connections that break. */
  readonly onError: (error: unknown) => void;
}

const FOLDER = join(import.meta.dirname, 'scripts');
const RETRY_MS = 500;
const CONNECT_TIMEOUT_MS = 2000;
const COMMAND_TIMEOUT_MS = 2500;
const RECONNECT_MS_MAX = 1000;
/** Another server is the master by now. */
const NOT_MASTER = /^(READONLY|MASTERDOWN)\b/;
const OUR_FAULT = /^(ERR|WRONGTYPE)\b/;

export const streamScripts = {
  take: readScript('take', FOLDER),
  settle: readScript('settle', FOLDER),
  hold: readScript('hold', FOLDER),
  rollCall: readScript('roll-call', FOLDER),
} as const satisfies Record<string, Script>;

/** The connection to the server, or the Cluster, of the streams. Nothing is queued while it is away, and nothing is sent again. */
export class StreamLink {
  readonly #redis: Redis | Cluster;

  constructor({ url, random, onError }: StreamLinkOptions) {
    const parsed = parseRedisUrl(url);
    this.#redis = parsed.kind === 'cluster' ? connectCluster(parsed, random) : connectRedis(parsed, random);
    this.#redis.on('error', (error) => onError(asUnavailable(error)));
  }

  /** Resolves when the server answers for the first time. */
  opened(): Promise<void> {
    return this.#redis.status === 'ready'
      ? Promise.resolve()
      : new Promise((resolve) => this.#redis.once('ready', resolve));
  }

  /** Throws Unavailable where the server is away or slow; then nothing may be assumed. */
  async run(script: Script, keys: readonly string[], args: readonly Argument[]): Promise<Reply> {
    try {
      return await this.send('EVALSHA', script.sha, keys.length, ...keys, ...args);
    } catch (error) {
      if (!isNoScript(error)) throw error;
      return this.send('EVAL', script.text, keys.length, ...keys, ...args);
    }
  }

  async send(command: string, ...args: readonly Argument[]): Promise<Reply> {
    try {
      return (await this.#redis.callBuffer(command, ...args)) as Reply;
    } catch (error) {
      const cause = error instanceof Error ? error : new Error(String(error));
      if (NOT_MASTER.test(cause.message) && !this.#redis.isCluster) (this.#redis as Redis).disconnect(true);
      if (OUR_FAULT.test(cause.message)) throw new Bug(`a stream refused a command: ${cause.message}`, { cause });
      throw asUnavailable(cause);
    }
  }

  close(): void {
    this.#redis.disconnect();
  }
}

/** Each script uses keys of one slot, so redirections may be followed: the lease is moved together with its stream. */
function connectCluster({ endpoints, username, password, isTls }: RedisUrl, random: Random): Cluster {
  const nodes = endpoints.map(({ host, port }) => ({ host, port }));
  return new Cluster(nodes, {
    enableOfflineQueue: false,
    clusterRetryStrategy: (times: number) =>
      Math.min(RECONNECT_MS_MAX, 20 * 2 ** Math.min(times, 10)) * (0.5 + random.fraction() / 2),
    redisOptions: {
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      ...(isTls ? { tls: {} } : {}),
      connectTimeout: CONNECT_TIMEOUT_MS,
      commandTimeout: COMMAND_TIMEOUT_MS,
      connectionName: 'tidemark',
    },
  });
}

function isNoScript(error: unknown): boolean {
  return error instanceof Unavailable && String((error.cause as Error | undefined)?.message).startsWith('NOSCRIPT');
}

function asUnavailable(cause: unknown): Unavailable {
  return new Unavailable('the server of the streams does not answer', RETRY_MS, 'unavailable', { cause });
}
