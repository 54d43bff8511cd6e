import { MemoryFences } from '../support/memory-fences.ts';
import { openRedisNode } from '../support/redis-node.ts';
import { startRedisCluster } from '../support/redis-cluster.ts';
import { slowClock } from '../support/slow-clock.ts';
import { wakeupContract } from './wakeup.ts';

/** A node that is busy is not one that does not answer. */
const clock = slowClock(10);

wakeupContract('redis cluster', async () => {
  const cluster = await startRedisCluster();
  const fences = new MemoryFences();
  const open = () => openRedisNode(cluster.url, fences, { clock });
  const [one, other] = await Promise.all([open(), open()]);
  return {
    sender: one.wakeup,
    receiver: other.wakeup,
    async close() {
      await one.close();
      await other.close();
      await cluster.stop();
    },
  };
});
