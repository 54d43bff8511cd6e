import { partitionOf, userKey } from '../../src/state/redis/partitions.ts';
import type { Line } from '../line.ts';
import { REDIS } from '../need.ts';
import { openBenchRedis } from '../redis-server.ts';
import { buildState, usualRow } from '../state-rows.ts';

/** In bytes. */
const BUDGETS = new Map([
  [10, 0.9 * 1024],
  [100, 7 * 1024],
  [1000, 65 * 1024],
]);

export const stateMemory: Line = {
  name: 'state: memory of a user with 10, 100 and 1,000 conversations',
  what: 'MEMORY USAGE of the key, against 0.9, 7 and 65 KB. The value is the largest share of its budget.',
  budget: { kind: 'at most', bound: 1, unit: 'of the budget', isCounted: true },
  needs: [REDIS],
  async run() {
    const redis = await openBenchRedis();
    const shares: number[] = [];
    const sizes: string[] = [];
    for (const [convs, budget] of BUDGETS) {
      const user = `user-of-${convs}`;
      const rows = Array.from({ length: convs }, (_, i) => usualRow(`conv-${String(i).padStart(6, '0')}`, i));
      await buildState(redis.state, user, rows);
      const bytes = Number(await redis.plain.memory('USAGE', userKey(partitionOf(user), user), 'SAMPLES', 0));
      shares.push(bytes / budget);
      sizes.push(`${convs}: ${(bytes / 1024).toFixed(2)} KB`);
    }
    await redis.close();
    return { value: Math.max(...shares), detail: sizes.join(' · ') };
  },
};
