import { partitionOf, userKey } from '../../src/state/redis/partitions.ts';
import { MemoryFences } from '../support/memory-fences.ts';
import { openRedisNode } from '../support/redis-node.ts';
import { startRedis } from '../support/redis.ts';
import { stateContract } from './state.ts';

stateContract('redis', async () => {
  const server = await startRedis();
  const fences = new MemoryFences();
  const [one, other] = await Promise.all([openRedisNode(server.url, fences), openRedisNode(server.url, fences)]);
  return {
    state: one.state,
    other: other.state,
    async evict(user) {
      await server.admin.del(userKey(partitionOf(user), user));
    },
    async close() {
      await one.close();
      await other.close();
      await server.stop();
    },
  };
});
