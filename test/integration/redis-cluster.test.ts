import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Unavailable } from '../../src/errors.ts';
import type { Change, StateView } from '../../src/ports.ts';
import { PARTITIONS, partitionOf, slotOf, slotOfPartition, userKey } from '../../src/state/redis/partitions.ts';
import { MemoryFences } from '../support/memory-fences.ts';
import { type RedisCluster, startRedisCluster } from '../support/redis-cluster.ts';
import { openRedisNode, type RedisNode } from '../support/redis-node.ts';
import { plainRow } from '../support/truth-model.ts';

const USERS = Array.from({ length: 300 }, (_, i) => `user-${i}`);
/** A master that stands still for a moment on a busy machine is not replaced. */
const NODE_TIMEOUT_MS = 2000;
const DEADLINE_MS = 60_000;
const ROWS = [plainRow({ conv: 'c', unread: 1 }), plainRow({ conv: 'big', large: true, convRev: 5 })];

let cluster: RedisCluster;
let fences: MemoryFences;
let one: RedisNode;
let other: RedisNode;

beforeAll(async () => {
  cluster = await startRedisCluster(NODE_TIMEOUT_MS);
  fences = new MemoryFences();
  [one, other] = await Promise.all([openRedisNode(cluster.url, fences), openRedisNode(cluster.url, fences)]);
  for (const user of USERS) {
    await one.state.beginBuild(user, 'token', 0);
    await one.state.completeBuild(user, 'token', `epoch of ${user}`, ROWS);
  }
});
afterAll(async () => {
  await one.close();
  await other.close();
  await cluster.stop();
});

/** Reads as a device does that has everything; undefined where the store is away for this user. */
async function look(node: RedisNode, user: string): Promise<StateView | null | undefined> {
  try {
    return await node.state.read(user, 1);
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    return undefined;
  }
}

async function mastersOf(users: readonly string[]): Promise<number[]> {
  return Promise.all(users.map(async (user) => (await cluster.serverOf(userKey(partitionOf(user), user))).port));
}

function change(user: string, syncVersion: number): Change {
  const sums = { total: 1, badge: 1, mentions: 0, digest: '0123456789ab' };
  return { user, epoch: 'epoch', baseVersion: syncVersion - 1, syncVersion, op: 'message', rows: [], ...sums };
}

describe('partitions', () => {
  test('lie in slots of their own, evenly over them, and the slots are those of Redis', async () => {
    const slots = Array.from({ length: PARTITIONS }, (_, partition) => slotOfPartition(partition));
    expect(slots.map((slot) => Math.floor((slot * PARTITIONS) / 16_384))).toEqual(slots.map((_, i) => i));
    for (const user of USERS.slice(0, 20)) {
      const key = userKey(partitionOf(user), user);
      const tag = /\{(.+)\}/.exec(key)?.[1] ?? '';
      expect(await cluster.masters[0]!.admin.cluster('KEYSLOT', key)).toBe(slotOf(tag));
    }
    const counts = new Map<number, number>();
    for (const port of await mastersOf(USERS)) counts.set(port, (counts.get(port) ?? 0) + 1);
    expect([...counts.values()].every((count) => count > USERS.length / 5)).toBe(true);
  });
});

describe('a master that dies', () => {
  test('[SY2][SY10] costs the users of its partitions a build and nobody else anything; wake-ups and large conversations go on', async () => {
    await one.state.raiseLarge(new Map([['big', 5]]));
    const ports = await mastersOf(USERS);
    // Of all three, so that whatever lies on it (a channel, the record of large conversations) has to move in turn.
    for (const master of cluster.masters) {
      const hit = USERS.filter((_, i) => ports[i] === master.port);
      const spared = USERS.filter((_, i) => ports[i] !== master.port);
      const before = new Map<string, StateView>();
      for (const user of spared) before.set(user, (await other.state.read(user, 1))!);
      const fencesBefore = await fences.read();

      await master.kill();
      const endMs = performance.now() + DEADLINE_MS;
      let hitViews: (StateView | null | undefined)[] = [];
      do {
        // Whenever the Cluster answers at all, it answers those who are not hit as if nothing had happened.
        for (const user of spared.slice(0, 50)) {
          const { epoch } = before.get(user)!;
          const view = await look(other, user);
          expect(view === undefined ? { epoch, rows: [] } : view).toMatchObject({ epoch, rows: [] });
        }
        hitViews = await Promise.all(hit.map(async (user) => look(one, user)));
        if (performance.now() > endMs) throw new Error('the cluster does not serve again');
        await sleep(50);
      } while (hitViews.some((view) => view === undefined));

      expect(hitViews.every((view) => view === null)).toBe(true);
      const fencesAfter = await fences.read();
      const raised = [...fencesAfter].filter(([unit, { number }]) => number !== fencesBefore.get(unit)?.number);
      expect(new Set(raised.map(([unit]) => unit))).toEqual(new Set(unitsOf(master.port)));
      await servesAll();
      for (const user of hit) {
        await one.state.beginBuild(user, 'token', 0);
        await one.state.completeBuild(user, 'token', `epoch of ${user} after ${master.port}`, ROWS);
      }
      for (const user of USERS) expect(await other.state.read(user, 1)).toMatchObject({ total: 1, rows: [] });
      await hearsEachOther();
      await master.start();
      await backAsReplica(master.port);
      units = await unitsByPort();
    }
  });
});

describe('a master that hangs', () => {
  test('[CN9] keeps nobody from being served who is on another one; of its own users it is said that they could not be reached', async () => {
    await servesAll();
    const ports = await mastersOf(USERS);
    const hung = [...cluster.masters, ...cluster.replicas].find(({ port }) => port === ports[0])!;
    hung.pause();
    const rows = [plainRow({ conv: 'c', convRev: 2, unread: 2 })];
    const answers = await one.state.apply(USERS.map((user) => ({ user, op: 'message', rows, parts: [] })));
    hung.resume();
    expect(answers.map(({ kind }) => kind)).toEqual(ports.map((port) => (port === hung.port ? 'away' : 'applied')));
  });
});

let units = new Map<number, number[]>();
beforeAll(async () => {
  units = await unitsByPort();
});

function unitsOf(port: number): number[] {
  return units.get(port) ?? [];
}

async function unitsByPort(): Promise<Map<number, number[]>> {
  const found = new Map<number, number[]>();
  for (let partition = 0; partition < PARTITIONS; partition++) {
    const { port } = await cluster.serverOf(userKey(partition, ''));
    found.set(port, [...(found.get(port) ?? []), partition]);
  }
  return found;
}

/** Calls of every kind, for every partition and by both nodes. */
async function servesAll(): Promise<void> {
  const state = async (node: RedisNode) => node.state.ping().then(() => 'served', String);
  for (const node of [one, other]) await expect.poll(async () => state(node)).toBe('served');
}

/** A wake-up of each node reaches the other one again. */
async function hearsEachOther(): Promise<void> {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    let heard = 0;
    to.wakeup.subscribe({ changes: () => heard++, large: () => {}, disconnect: () => {} });
    await expect
      .poll(
        async () => {
          await from.wakeup.publishChanges([change('ann', 2)]);
          return heard;
        },
        { interval: 100 },
      )
      .toBeGreaterThan(0);
  }
}

async function backAsReplica(port: number): Promise<void> {
  const server = cluster.masters.find((one_) => one_.port === port)!;
  const info = async () => server.admin.info('replication').catch(String);
  await expect.poll(info, { interval: 50 }).toMatch(/role:slave[^]*link_status:up/);
}
