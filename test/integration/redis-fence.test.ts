import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Unavailable } from '../../src/errors.ts';
import type { Change, Fence, FenceStore, StateAnswer, StateCall } from '../../src/ports.ts';
import { partitionKey, partitionOf, userKey } from '../../src/state/redis/partitions.ts';
import { MemoryFences } from '../support/memory-fences.ts';
import { openRedisNode, type RedisNode } from '../support/redis-node.ts';
import { caughtUp } from '../support/redis-pair.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { openTcpProxy } from '../support/tcp-proxy.ts';
import { plainRow } from '../support/truth-model.ts';

/** ARCHITECTURE, truth and state, fence: a copy of the data that lags never gives out a version that was given out before. */
const USERS = Array.from({ length: 40 }, (_, i) => `user-${i}`);
/** Acknowledged writes that the promoted replica does not have. */
const LOST = 1200;
const DEADLINE_MS = 60_000;

/** Takes whatever copy answers for the one that always did: the naive way. */
class BlindFences implements FenceStore {
  readonly #copy = { runId: '', replId: '' };

  async read(): Promise<ReadonlyMap<number, Fence>> {
    return new Map([[0, { number: 1, ...this.#copy }]]);
  }

  async raise(_partition: number, _expected: Fence | null, { runId, replId }: Fence): Promise<boolean> {
    Object.assign(this.#copy, { runId, replId });
    return true;
  }
}

/** A truth that answers late: what it says of fences may be old. */
class OldFences implements FenceStore {
  readonly #inner: FenceStore;
  #said: ReadonlyMap<number, Fence> | null = null;

  constructor(inner: FenceStore) {
    this.#inner = inner;
  }

  async stay(): Promise<void> {
    this.#said = await this.#inner.read();
  }

  go(): void {
    this.#said = null;
  }

  read: FenceStore['read'] = async () => this.#said ?? this.#inner.read();
  raise: FenceStore['raise'] = async (partition, expected, next) => this.#inner.raise(partition, expected, next);
}

async function server(...options: string[]): Promise<RedisServer> {
  const started = await startRedis(options);
  onTestFinished(() => started.stop());
  return started;
}

async function nodeAt(url: string, fences: FenceStore): Promise<RedisNode> {
  const node = await openRedisNode(url, fences);
  onTestFinished(() => node.close());
  return node;
}

async function build({ state }: RedisNode, user: string, epoch: string, convRev = 1): Promise<void> {
  await state.beginBuild(user, `token of ${epoch}`, 0);
  const built = await state.completeBuild(user, `token of ${epoch}`, epoch, [plainRow({ conv: 'c', convRev })]);
  expect(built.stored).toBe(true);
}

/** A message that takes the conversation from `fromRev` to the next. */
function message(user: string, fromRev: number, sender = 'other'): StateCall {
  const messages = [{ seq: fromRev, sender, counts: true, mentionAll: false, mentions: [] }];
  const part = { conv: 'c', fromRev, toRev: fromRev + 1, headSeq: fromRev, activity: fromRev, messages };
  return { user, op: 'message', rows: [], parts: [part] };
}

function changeOf(answer: StateAnswer | undefined): Change | null {
  return answer?.kind === 'applied' ? answer.change : null;
}

/** Tries until the store serves again. */
async function again<T>(call: () => Promise<T>): Promise<T> {
  const endMs = performance.now() + DEADLINE_MS;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof Unavailable) || performance.now() > endMs) throw error;
      await sleep(20);
    }
  }
}

/** The primary dies, and a replica that lacks its last writes takes over its address. Answers every change that was given out. */
async function promoteLaggingReplica(fences: FenceStore) {
  const [primary, replica] = await Promise.all([server(), server()]);
  const [address, link] = await Promise.all([openTcpProxy(primary.port), openTcpProxy(primary.port)]);
  onTestFinished(() => address.close());
  await replica.admin.replicaof('127.0.0.1', link.port);
  // Once somebody follows, the primary counts what it writes, and stays the copy that it is.
  await caughtUp(replica, primary);
  const node = await nodeAt(`redis://127.0.0.1:${address.port}`, fences);
  const given: Change[] = [];
  for (const user of USERS) await build(node, user, `epoch of ${user}`);
  await caughtUp(replica, primary);

  link.isStalled = true;
  for (let rev = 1; given.length < LOST; rev++) {
    const answers = await node.state.apply(USERS.map((user) => message(user, rev)));
    given.push(...answers.map((answer) => changeOf(answer)!));
  }
  await primary.kill();
  await link.close();
  await replica.admin.replicaof('NO', 'ONE');
  const before = given.at(-1)!;
  address.targetPort = replica.port;
  address.cut();
  return { node, replica, given, before };
}

describe('the promotion of a replica that lags', () => {
  test('[SY1][SY10] loses more than 1,000 acknowledged versions and gives none out again: its users are missing, and built anew', async () => {
    const { node, replica, given, before } = await promoteLaggingReplica(new MemoryFences());
    // The copy does lag: its keys are whole, and stand at the first version.
    const held = await replica.admin.hgetBuffer(userKey(partitionOf(before.user), before.user), '');
    expect(held?.readUInt32LE(5)).toBe(1);
    expect(before.syncVersion).toBeGreaterThan(LOST / USERS.length);

    expect(await again(() => node.state.read(before.user))).toBeNull();
    const answers = await node.state.apply(USERS.map((user) => message(user, 1, 'someone else')));
    expect(new Set(answers.map(({ kind }) => kind))).toEqual(new Set(['missing']));
    const rev = before.syncVersion;
    for (const user of USERS) await build(node, user, `next epoch of ${user}`, rev);
    const later = await node.state.apply(USERS.map((user) => message(user, rev)));
    expect(repeated([...given, ...later.map((answer) => changeOf(answer)!)])).toEqual([]);
  });

  test('[SY1] by a node that takes it for the copy that it knew, versions are given out twice', async () => {
    const { node, given } = await promoteLaggingReplica(new BlindFences());
    const answers = await again(() => node.state.apply(USERS.map((user) => message(user, 1, 'someone else'))));
    expect(repeated([...given, ...answers.map((answer) => changeOf(answer)!)])).toHaveLength(USERS.length);
  });
});

async function evictFence({ admin }: RedisServer): Promise<void> {
  expect(await admin.del(partitionKey(0))).toBe(1);
}

/** Versions that stand for two changes. */
function repeated(given: readonly Change[]): string[] {
  const names = given.map(({ user, epoch, syncVersion }) => `${user} ${epoch} ${syncVersion}`);
  return names.filter((name, i) => names.indexOf(name) !== i);
}

describe('a server', () => {
  test('[SY10] that was started again from an older file is another copy', async () => {
    const redis = await server('--dbfilename', 'old.rdb');
    const node = await nodeAt(redis.url, new MemoryFences());
    await build(node, 'ann', 'epoch-1');
    await redis.admin.save();
    await node.state.apply([message('ann', 1)]);
    await redis.kill();
    await redis.start();
    expect(await redis.admin.exists(userKey(partitionOf('ann'), 'ann'))).toBe(1);
    expect(await again(() => node.state.read('ann'))).toBeNull();
  });

  test('[SY10] that lost its keys is the same copy: users are missing and keep nothing', async () => {
    const redis = await server();
    const fences = new MemoryFences();
    const node = await nodeAt(redis.url, fences);
    await build(node, 'ann', 'epoch-1');
    await redis.admin.flushall();
    expect(await node.state.read('ann')).toBeNull();
    expect(await node.state.apply([message('ann', 1)])).toEqual([{ kind: 'missing' }]);
    expect((await fences.read()).get(0)?.number).toBe(1);
  });

  test('[SY1] that is replaced by another copy while it owes an answer: what broke off is not sent to that one', async () => {
    const [redis, older] = await Promise.all([server(), server()]);
    const address = await openTcpProxy(redis.port);
    onTestFinished(() => address.close());
    // The other copy knows the scripts, as one does that has served before.
    await (await nodeAt(older.url, new MemoryFences())).state.read('ann');
    const node = await nodeAt(`redis://127.0.0.1:${address.port}`, new MemoryFences());
    await build(node, 'ann', 'epoch-1');
    const key = userKey(partitionOf('ann'), 'ann');
    await older.admin.restore(key, 0, await redis.admin.dumpBuffer(key));
    await node.state.apply([message('ann', 1)]);

    address.isStalled = true;
    const brokenOff = node.state.apply([message('ann', 2)]);
    brokenOff.catch(() => {});
    address.targetPort = older.port;
    address.cut();
    address.isStalled = false;
    await expect(brokenOff).rejects.toThrow(Unavailable);
    expect(await again(() => node.state.read('ann'))).toBeNull();
    const held = await older.admin.hgetBuffer(key, '');
    expect(held?.readUInt32LE(5)).toBe(1);
  });

  test('[SY10] that became a copy of another and a primary again, all behind an open connection, is found out', async () => {
    const [redis, older] = await Promise.all([server(), server()]);
    const node = await nodeAt(redis.url, new MemoryFences());
    await build(node, 'ann', 'epoch-1');
    const key = userKey(partitionOf('ann'), 'ann');
    await older.admin.restore(key, 0, await redis.admin.dumpBuffer(key));
    await node.state.apply([message('ann', 1)]);
    await redis.admin.replicaof('127.0.0.1', older.port);
    await expect.poll(async () => redis.admin.info('replication')).toMatch(/link_status:up/);
    await redis.admin.replicaof('NO', 'ONE');
    // Found by the look that is taken every second; whoever comes before it is not answered from the older copy either way.
    await expect.poll(async () => again(() => node.state.read('ann')), { interval: 50 }).toBeNull();
  });
});

describe('nodes', () => {
  test('[SY10] that see another copy at the same time raise the fence once, and both go on', async () => {
    const redis = await server();
    const fences = new MemoryFences();
    const [one, other] = await Promise.all([nodeAt(redis.url, fences), nodeAt(redis.url, fences)]);
    await build(one, 'ann', 'epoch-1');
    fences.meet(2);
    await redis.kill();
    await redis.start();
    expect(await again(() => one.state.read('ann'))).toBeNull();
    expect(await again(() => other.state.read('ann'))).toBeNull();
    expect(fences.refused).toBe(1);
    expect((await fences.read()).get(0)?.number).toBe(2);
    await build(one, 'ann', 'epoch-2');
    expect(await other.state.read('ann')).toMatchObject({ epoch: 'epoch-2' });
  });

  test('[SY10] that see two copies at the same time, as in a network that is split, never call both by one number', async () => {
    const [redis, another] = await Promise.all([server(), server()]);
    const fences = new MemoryFences();
    fences.meet(2);
    const [one, other] = await Promise.all([nodeAt(redis.url, fences), nodeAt(another.url, fences)]);
    await Promise.all([again(() => one.state.read('ann')), again(() => other.state.read('ann'))]);
    expect(fences.refused).toBeGreaterThan(0);
    const numbers = await Promise.all([redis, another].map(async ({ admin }) => admin.get(partitionKey(0))));
    expect(numbers[0]).not.toBe(numbers[1]);
    // Nor does the one whose fence was taken go on under its number.
    const highest = Math.max(...numbers.map(Number));
    const raised = async (): Promise<number> => {
      await Promise.all([one, other].map((node) => again(() => node.state.read('ann'))));
      const later = await Promise.all([redis, another].map(async ({ admin }) => admin.get(partitionKey(0))));
      return Math.min(...later.map(Number));
    };
    await expect.poll(raised, { interval: 50 }).toBeGreaterThan(highest - 1);
  });

  test.each([
    ['', () => {}],
    [', also where the number that the partition was last called with was evicted', evictFence],
  ])('[SY10] with a lower number are refused whatever they ask for, and read the number again%s', async (_, evict) => {
    const redis = await server();
    const fences = new MemoryFences();
    const old = new OldFences(fences);
    const [slow, quick] = await Promise.all([nodeAt(redis.url, old), nodeAt(redis.url, fences)]);
    await build(slow, 'ann', 'epoch-1');
    await build(slow, 'bob', 'epoch-1');
    // As if the copy had been found to be another: the number rises, and `quick` hears of it first.
    const fence = (await fences.read()).get(0)!;
    await old.stay();
    await fences.raise(0, fence, { ...fence, number: 5 });
    await expect.poll(async () => quick.state.read('ann'), { interval: 20 }).toBeNull();
    await build(quick, 'ann', 'epoch-2');
    await evict(redis);
    await expect(slow.state.apply([message('ann', 1), message('bob', 1)])).rejects.toThrow(/fence .* raised/);
    await expect(slow.state.read('bob')).rejects.toThrow(/fence .* raised/);
    old.go();
    // `bob` still stands there under the lower number, and is missing all the same.
    expect(await slow.state.apply([message('ann', 1), message('bob', 1)])).toMatchObject([
      { kind: 'applied', change: { epoch: 'epoch-2' } },
      { kind: 'missing' },
    ]);
  });
});
