import { partitionOf, userKey } from '../../src/state/redis/partitions.ts';
import { MemoryFences } from '../support/memory-fences.ts';
import { openRedisNode } from '../support/redis-node.ts';
import { startRedisCluster } from '../support/redis-cluster.ts';
import { stateContract } from './state.ts';

stateContract('redis cluster', async () => {
  const cluster = await startRedisCluster();
  const fences = new MemoryFences();
  const [one, other] = await Promise.all([openRedisNode(cluster.url, fences), openRedisNode(cluster.url, fences)]);
  return {
    state: one.state,
    other: other.state,
    async evict(user) {
      const key = userKey(partitionOf(user), user);
      await (await cluster.serverOf(key)).admin.del(key);
    },
    async close() {
      await one.close();
      await other.close();
      await cluster.stop();
    },
  };
});
