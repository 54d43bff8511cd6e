import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../loadtest/free-port.ts';
import { slotOf, SLOTS } from '../../src/state/redis/partitions.ts';
import { type RedisServer, startRedis } from './redis.ts';

export interface RedisCluster {
  /** redis+cluster://127.0.0.1:PORT,… */
  readonly url: string;
  /** Three, each with a third of the slots. */
  readonly masters: readonly RedisServer[];
  /** The n-th follows the n-th master. */
  readonly replicas: readonly RedisServer[];
  /** The server that serves the key now, by what the others say of it. */
  serverOf(key: string): Promise<RedisServer>;
  stop(): Promise<void>;
}

const MASTERS = 3;
/** Once formed: the nodes of a busy machine may stand still for a while, and none is to be put in the place of another for it. */
const NODE_TIMEOUT_MS = 15_000;
/** Forming waits for it in places. */
const FORMING_TIMEOUT_MS = 1000;
const FORM_TIMEOUT_MS = 60_000;

/**
 * A Redis Cluster of three masters with a replica each, formed by hand, which takes a second instead of the tool's ten. `nodeTimeoutMs`:
 * a master that is silent for so long is replaced; short for who kills one, long for who wants none replaced on a busy machine.
 */
export async function startRedisCluster(nodeTimeoutMs = NODE_TIMEOUT_MS): Promise<RedisCluster> {
  const servers = await Promise.all(Array.from({ length: 2 * MASTERS }, startMember));
  const masters = servers.slice(0, MASTERS);
  const replicas = servers.slice(MASTERS);
  const [first] = masters as [RedisServer];
  for (const [i, server] of servers.entries()) {
    // Equal epochs would be settled by the nodes among themselves, which takes a while.
    await server.admin.call('CLUSTER', 'SET-CONFIG-EPOCH', i + 1);
    if (server !== first) await server.admin.call('CLUSTER', 'MEET', '127.0.0.1', first.port, await busPort(first));
  }
  for (const [i, master] of masters.entries()) {
    const [from, to] = [Math.floor((SLOTS * i) / MASTERS), Math.floor((SLOTS * (i + 1)) / MASTERS) - 1];
    await master.admin.call('CLUSTER', 'ADDSLOTSRANGE', from, to);
  }
  await until('all nodes know each other', async () => {
    const known = await Promise.all(servers.map(async ({ admin }) => String(await admin.call('CLUSTER', 'INFO'))));
    return known.every((text) => text.includes(`cluster_known_nodes:${servers.length}`));
  });
  for (const [i, replica] of replicas.entries()) {
    await replica.admin.call(
      'CLUSTER',
      'REPLICATE',
      String(await (masters[i] as RedisServer).admin.call('CLUSTER', 'MYID')),
    );
  }
  await until('the cluster is whole', async () => {
    const states = await Promise.all(
      servers.map(async ({ admin }) =>
        [String(await admin.call('CLUSTER', 'INFO')), await admin.info('replication')].join(),
      ),
    );
    return states.every(
      (text, i) => text.includes('cluster_state:ok') && (i < MASTERS || text.includes('link_status:up')),
    );
  });
  for (const { admin } of servers) await admin.call('CONFIG', 'SET', 'cluster-node-timeout', nodeTimeoutMs);
  return {
    url: `redis+cluster://${masters.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    masters,
    replicas,
    async serverOf(key) {
      const slot = slotOf(/\{(.+?)\}/.exec(key)?.[1] ?? key);
      for (const { admin } of servers.filter(({ pid }) => isRunning(pid))) {
        const ranges = (await admin.call('CLUSTER', 'SLOTS')) as [number, number, [string, number]][];
        const port = ranges.find(([from, to]) => from <= slot && slot <= to)?.[2][1];
        const server = servers.find((one) => one.port === port);
        if (server) return server;
      }
      throw new Error(`nobody serves ${key}`);
    },
    async stop() {
      await Promise.all(servers.map(async (server) => server.stop()));
    },
  };
}

async function startMember(): Promise<RedisServer> {
  const options = ['--cluster-enabled', 'yes', '--cluster-node-timeout', String(FORMING_TIMEOUT_MS)];
  // The bus would take the port 10,000 above, where connections of others come from.
  return startRedis([...options, '--cluster-port', await freePort(), '--repl-diskless-sync-delay', '0']);
}

async function busPort({ admin }: RedisServer): Promise<string> {
  const [, port = ''] = (await admin.call('CONFIG', 'GET', 'cluster-port')) as string[];
  return port;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + FORM_TIMEOUT_MS;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`in vain: ${what}`);
    await sleep(25);
  }
}
