import { MemoryFences } from '../support/memory-fences.ts';
import { openRedisNode } from '../support/redis-node.ts';
import { startRedisCluster } from '../support/redis-cluster.ts';
import { wakeupContract } from './wakeup.ts';

wakeupContract('redis cluster', async () => {
  const cluster = await startRedisCluster();
  const fences = new MemoryFences();
  const [one, other] = await Promise.all([openRedisNode(cluster.url, fences), openRedisNode(cluster.url, fences)]);
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
