import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisServer } from './redis.ts';

/** What may happen to a Redis at any moment, each answering how much it has hit. */
export const troubles = {
  /** As `allkeys-lru` does: some key is gone, whoever it belongs to. */
  async evict({ admin }: RedisServer): Promise<number> {
    const key = await admin.randomkey();
    return key === null ? 0 : admin.unlink(key);
  },

  /** Any connection of the product, in the middle of whatever it does. */
  async cut({ admin }: RedisServer): Promise<number> {
    const own = String(await admin.client('ID'));
    const all = [...String(await admin.client('LIST')).matchAll(/^id=(\d+) /gm)].map(([, id = '']) => id);
    const others = all.filter((id) => id !== own);
    const id = others[Math.floor(Math.random() * others.length)];
    return id === undefined ? 0 : Number(await admin.call('CLIENT', 'KILL', 'ID', id));
  },

  /** Whoever listens is cut off before it hears anything. */
  async deafen({ admin }: RedisServer): Promise<number> {
    return Number(await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub'));
  },
} as const;

export interface Trouble {
  /** How much was hit so far. */
  readonly hits: number;
  /** Resolves when it has stopped, and whoever listened before it began does so again. */
  end(): Promise<void>;
}

/** A bound on a hang. */
const BACK_WITHIN_MS = 60_000;
const LOOK_MS = 50;

/** In the background, again and again until it is ended. */
export function makeTrouble(redis: RedisServer, kind: keyof typeof troubles, everyMs: number): Trouble {
  let isEnding = false;
  let hits = 0;
  const run = (async () => {
    const before = await listeners(redis);
    while (!isEnding) {
      hits += await troubles[kind](redis);
      await sleep(everyMs);
    }
    const endMs = performance.now() + BACK_WITHIN_MS;
    while ((await listeners(redis)) < before) {
      if (performance.now() > endMs) throw new Error('whoever listened before does not come back');
      await sleep(LOOK_MS);
    }
  })();
  return {
    get hits() {
      return hits;
    },
    async end() {
      isEnding = true;
      await run;
    },
  };
}

/** Subscriptions that stand, of all channels. */
async function listeners({ admin }: RedisServer): Promise<number> {
  const channels = (await admin.call('PUBSUB', 'SHARDCHANNELS')) as string[];
  const counts = (await admin.call('PUBSUB', 'SHARDNUMSUB', ...channels)) as (string | number)[];
  return counts.reduce<number>((sum, count) => sum + (typeof count === 'number' ? count : 0), 0);
}
