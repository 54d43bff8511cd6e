import type { FenceStore, StateStore, Wakeup } from '../../src/ports.ts';
import { openRedis, type RedisOptions } from '../../src/state/redis/open.ts';
import { systemClock, systemRandom } from '../../src/system.ts';

export interface RedisNode {
  readonly state: StateStore;
  readonly wakeup: Wakeup;
  /** What no caller was told of. */
  readonly faults: unknown[];
  close(): Promise<void>;
}

/** State and wake-up as one node of an installation has them. */
export async function openRedisNode(
  url: string,
  fence: FenceStore,
  options: Partial<RedisOptions> = {},
): Promise<RedisNode> {
  const faults: unknown[] = [];
  const opened = await openRedis({
    url,
    fence,
    clock: systemClock,
    random: systemRandom,
    comparisonMs: 25_000,
    onError: (error) => faults.push(error),
    ...options,
  });
  return {
    ...opened,
    faults,
    async close() {
      await opened.wakeup.close();
      await opened.state.close();
    },
  };
}
