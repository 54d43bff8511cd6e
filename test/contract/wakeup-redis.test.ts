import { MemoryFences } from '../support/memory-fences.ts';
import { openRedisNode } from '../support/redis-node.ts';
import { startRedis } from '../support/redis.ts';
import { slowClock } from '../support/slow-clock.ts';
import { wakeupContract } from './wakeup.ts';

/** A node that is busy is not one that does not answer. */
const clock = slowClock(10);

wakeupContract('redis', async () => {
  const server = await startRedis();
  const fences = new MemoryFences();
  const open = () => openRedisNode(server.url, fences, { clock });
  const [one, other] = await Promise.all([open(), open()]);
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
