import { type RedisServer, startRedis } from './redis.ts';
import { openTcpProxy, type TcpProxy } from './tcp-proxy.ts';

export interface RedisPair {
  /** One address that always leads to the primary. */
  readonly url: string;
  /** Kills the primary and promotes a replica that lacks its last `writes` acknowledged writes. Answers how many it lacks. */
  failOver(writes: number): Promise<number>;
  stop(): Promise<void>;
}

const FILLER = 'filler';
const OFFSET = /master_repl_offset:(\d+)/;

/** A primary and its replica, as an operator runs them who moves an address by hand. */
export async function startRedisPair(): Promise<RedisPair> {
  let [primary, replica] = await Promise.all([startRedis(), startRedis()]);
  let link = await follow(replica, primary);
  const address = await openTcpProxy(primary.port);
  return {
    url: `redis://127.0.0.1:${address.port}`,
    async failOver(writes) {
      await caughtUp(replica, primary);
      link.isStalled = true;
      for (let i = 0; i < writes; i++) await primary.admin.incr(FILLER);
      const acknowledged = Number(await primary.admin.get(FILLER));
      await primary.kill();
      await link.close();
      await replica.admin.replicaof('NO', 'ONE');
      const kept = Number((await replica.admin.get(FILLER)) ?? 0);
      address.targetPort = replica.port;
      address.cut();
      [primary, replica] = [replica, primary];
      await replica.start();
      link = await follow(replica, primary);
      return acknowledged - kept;
    },
    async stop() {
      await Promise.all([address.close(), link.close()]);
      await Promise.all([primary.stop(), replica.stop()]);
    },
  };
}

/** Through a link that can be stalled: what is under way on it is lost with it, as on a cable. */
async function follow(replica: RedisServer, primary: RedisServer): Promise<TcpProxy> {
  const link = await openTcpProxy(primary.port);
  await replica.admin.replicaof('127.0.0.1', link.port);
  await caughtUp(replica, primary);
  return link;
}

/** All that the primary has written so far has come over. */
export async function caughtUp(replica: RedisServer, primary: RedisServer): Promise<void> {
  const offset = Number(OFFSET.exec(await primary.admin.info('replication'))?.[1]);
  for (;;) {
    const said = await replica.admin.info('replication');
    if (/master_link_status:up/.test(said) && Number(/slave_repl_offset:(\d+)/.exec(said)?.[1]) >= offset) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
