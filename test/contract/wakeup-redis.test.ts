import { MemoryFences } from '../support/memory-fences.ts';
import { openRedisNode } from '../support/redis-node.ts';
import { startRedis } from '../support/redis.ts';
import { wakeupContract } from './wakeup.ts';

wakeupContract('redis', async () => {
  const server = await startRedis();
  const fences = new MemoryFences();
  const [one, other] = await Promise.all([openRedisNode(server.url, fences), openRedisNode(server.url, fences)]);
  return {
    sender: one.wakeup,
    receiver: other.wakeup,
    async close() {
      await one.close();
      await other.close();
      await server.stop();
    },
  };
});
