import { expect, test } from 'vitest';
import { randomOf } from '../../loadtest/random.ts';
import { type Fault, play } from '../../loadtest/replay/play.ts';
import { readCheckpoints } from '../../loadtest/replay/trace.ts';
import { Target } from '../../loadtest/target.ts';
import { freshDatabase } from '../support/mysql-database.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { sharedMariadb } from '../support/shared-mariadb.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { writeTrace } from '../support/trace-writer.ts';

const PLAY_TIMEOUT_MS = 20 * 60_000;
const STRIKE_EVERY_MS = 25;
/** Bursts of trouble; devices are looked at between them, since a state that is lost all the time never stands still. */
const BURSTS = 6;
const BURST_MS = 3000;

const mariadb = await sharedMariadb();

interface Struck {
  keys: number;
  links: number;
  subscriptions: number;
}

/** For a while: evicts random keys, cuts random connections, and drops every subscription, so that no wake-up arrives. */
async function disturb({ admin }: RedisServer, struck: Struck, random: () => number): Promise<void> {
  const end = performance.now() + BURST_MS;
  while (performance.now() < end) {
    const key = await admin.randomkey();
    if (key !== null) struck.keys += await admin.unlink(key);
    struck.subscriptions += Number(await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub'));
    const own = String(await admin.client('ID'));
    const all = [...String(await admin.client('LIST')).matchAll(/^id=(\d+) /gm)].map(([, id = '']) => id);
    const id = all.filter((one) => one !== own)[Math.floor(random() * (all.length - 1))];
    if (id !== undefined && random() < 0.2) struck.links += Number(await admin.call('CLIENT', 'KILL', 'ID', id));
    await new Promise((resolve) => setTimeout(resolve, STRIKE_EVERY_MS));
  }
}

test(
  '[SY1][SY5][SY10] two nodes while keys are evicted, connections cut and wake-ups dropped: nothing wrong at any checkpoint',
  { timeout: PLAY_TIMEOUT_MS },
  async () => {
    const folder = tempFolder();
    writeTrace({ folder, seed: 21, gzip: false, steps: 1500 });
    const database = await freshDatabase(mariadb);
    const redis = await startRedis();
    const settings = { TIDEMARK_MYSQL_URL: database.url, TIDEMARK_REDIS_URL: redis.url, TIDEMARK_HEARTBEAT_MS: '2000' };
    const target = await Target.start({ nodes: 2, settings });
    const struck: Struck = { keys: 0, links: 0, subscriptions: 0 };
    const random = randomOf(5);
    const end = readCheckpoints(folder).at(-1)?.at ?? 0;
    const faults = Array.from({ length: BURSTS }, (_, i): Fault => ({
      name: 'disturbed',
      at: (end * (i + 0.5)) / BURSTS,
      strike: () => disturb(redis, struck, () => random.fraction()),
    }));
    try {
      const said: string[] = [];
      const { wrong, figures } = await play({
        folder,
        target,
        speed: null,
        faults,
        onProgress: () => {},
        say: (text) => void said.push(text),
      });
      expect(wrong.slice(0, 10), [...said, JSON.stringify(figures)].join('\n')).toEqual([]);
    } finally {
      await target.stop();
      await redis.stop();
      await database.drop();
    }
    expect(struck.keys).toBeGreaterThan(0);
    expect(struck.links).toBeGreaterThan(0);
    expect(struck.subscriptions).toBeGreaterThan(0);
  },
);
