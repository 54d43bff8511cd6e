import { partitionOf, userKey } from '../../src/state/redis/partitions.ts';
import { type Line, median, ROUNDS } from '../line.ts';
import { REDIS } from '../need.ts';
import { openBenchRedis } from '../redis-server.ts';
import { buildState, usualRow } from '../state-rows.ts';

const CONVS = 1000;
const READS = 40;
const USER = 'user';

/** The state of a user who comes back is one round trip, and no more work for the node than its rows. */
export const warmSnapshot: Line = {
  name: 'state: warm snapshot of 1,000 conversations',
  what: 'Processor of the node: a read of the state, to finished rows, against an HGETALL of the same key into buffers.',
  budget: { kind: 'at most', bound: 0.1, unit: 'of the baseline' },
  needs: [REDIS],
  async run() {
    const redis = await openBenchRedis();
    const rows = Array.from({ length: CONVS }, (_, i) => usualRow(`conv-${String(i).padStart(6, '0')}`, i));
    await buildState(redis.state, USER, rows);
    const key = userKey(partitionOf(USER), USER);
    const ours = async (): Promise<void> => {
      const view = await redis.state.read(USER);
      if (view?.rows.length !== CONVS) throw new Error('not all rows were read');
    };
    const theirs = async (): Promise<void> => {
      if (Object.keys(await redis.plain.hgetallBuffer(key)).length <= CONVS)
        throw new Error('not all fields were read');
    };
    const spent: [number[], number[]] = [[], []];
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [i, read] of [ours, theirs].entries()) {
        const since = process.cpuUsage();
        for (let n = 0; n < READS; n++) await read();
        const { user, system } = process.cpuUsage(since);
        if (round > 0) spent[i]?.push((user + system) / READS);
      }
    }
    await redis.close();
    const [mine = 0, hgetall = 1] = spent.map(median);
    return { value: mine / hgetall, detail: `${mine.toFixed(0)} µs against ${hgetall.toFixed(0)} µs (medians)` };
  },
};
