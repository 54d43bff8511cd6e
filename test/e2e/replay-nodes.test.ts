import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MariadbServer } from '../../loadtest/mariadb.ts';
import { type Fault, play } from '../../loadtest/replay/play.ts';
import { readCheckpoints } from '../../loadtest/replay/trace.ts';
import { Target } from '../../loadtest/target.ts';
import { NEED_TIMEOUT_MS } from '../support/debian.ts';
import { startMariadb } from '../support/mariadb.ts';
import { freshDatabase } from '../support/mysql-database.ts';
import { type RedisPair, startRedisPair } from '../support/redis-pair.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { writeTrace } from '../support/trace-writer.ts';

/** A folder with a trace to play instead of the one made here: `REPLAY_TRACE=… npx vitest run test/e2e/replay-nodes.test.ts`. */
const TRACE = process.env['REPLAY_TRACE'];
const NODES = 3;
const LOST_WRITES = 1000;
const PLAY_TIMEOUT_MS = 30 * 60_000;

let mariadb: MariadbServer;
let redis: RedisPair;

beforeAll(async () => {
  [mariadb, redis] = await Promise.all([startMariadb(), startRedisPair()]);
}, NEED_TIMEOUT_MS);
afterAll(async () => {
  await Promise.all([mariadb.stop(), redis.stop()]);
});

test(
  '[SY1][SY10][AK4][CN9] three nodes, while a node, the Redis primary and the SQL server are killed in turn, twice each: nothing wrong',
  { timeout: PLAY_TIMEOUT_MS },
  async () => {
    const folder = TRACE ?? tempFolder();
    if (TRACE === undefined) writeTrace({ folder, seed: 11, gzip: false, steps: 3000 });
    const database = await freshDatabase(mariadb.url);
    const settings = { TIDEMARK_MYSQL_URL: database.url, TIDEMARK_REDIS_URL: redis.url };
    const target = await Target.start({ nodes: NODES, settings });
    const lost: number[] = [];
    const strikes = [
      { name: 'node killed', strike: () => target.crash() },
      {
        name: 'Redis primary killed',
        strike: async () => void lost.push(await redis.failOver(LOST_WRITES)),
      },
      {
        name: 'SQL server killed',
        async strike() {
          await mariadb.kill();
          await mariadb.start();
        },
      },
    ];
    const end = readCheckpoints(folder).at(-1)?.at ?? 0;
    const faults = [...strikes, ...strikes].map((one, i): Fault => ({ ...one, at: (end * (i + 1)) / 7 }));
    const said: string[] = [];
    try {
      const { wrong, figures } = await play({
        folder,
        target,
        speed: null,
        faults,
        onProgress: () => {},
        say: (text) => {
          said.push(text);
          if (TRACE !== undefined) process.stdout.write(`${text}\n`);
        },
      });
      if (TRACE !== undefined) process.stdout.write(`${JSON.stringify(figures)}\n`);
      expect(wrong.slice(0, 10), said.join('\n')).toEqual([]);
    } finally {
      await target.stop();
    }
    expect(said.filter((text) => text.includes('killed'))).toHaveLength(6);
    expect(lost).toHaveLength(2);
    for (const writes of lost) expect(writes).toBeGreaterThanOrEqual(LOST_WRITES);
  },
);
