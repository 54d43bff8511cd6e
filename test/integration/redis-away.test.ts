import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Unavailable } from '../../src/errors.ts';
import type { StateStore } from '../../src/ports.ts';
import { MemoryFences } from '../support/memory-fences.ts';
import { openRedisNode, type RedisNode } from '../support/redis-node.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { openTcpProxy } from '../support/tcp-proxy.ts';
import { plainRow } from '../support/truth-model.ts';

/** While the store is away every call is refused, and says when to try again; none is queued, and none is sent again. */
const DEADLINE_MS = 60_000;
const CALLS: [string, (state: StateStore) => Promise<unknown>][] = [
  ['apply', (state) => state.apply([{ user: 'ann', op: 'read', rows: [plainRow({ conv: 'c' })], parts: [] }])],
  ['read', (state) => state.read('ann')],
  ['beginBuild', (state) => state.beginBuild('ann', 'token', 1000)],
  ['completeBuild', (state) => state.completeBuild('ann', 'token', 'epoch', [])],
  ['abandonBuild', (state) => state.abandonBuild('ann', 'token')],
  ['raiseLarge', (state) => state.raiseLarge(new Map([['c', 9]]))],
  ['drop', (state) => state.drop('ann')],
  ['ping', (state) => state.ping()],
];

let redis: RedisServer;
let node: RedisNode;

beforeEach(async () => {
  redis = await startRedis();
  node = await openRedisNode(redis.url, new MemoryFences());
  onTestFinished(async () => {
    await node.close();
    await redis.stop();
  });
  await node.state.beginBuild('ann', 'token', 1000);
  await node.state.completeBuild('ann', 'token', 'epoch-1', [plainRow({ conv: 'c', unread: 2 })]);
});

async function refusals(): Promise<string[]> {
  const outcomes = await Promise.allSettled(CALLS.map(async ([, call]) => call(node.state)));
  return outcomes.flatMap((outcome, i) => {
    const isRefused = outcome.status === 'rejected' && outcome.reason instanceof Unavailable;
    return isRefused && outcome.reason.retryMs > 0 ? [CALLS[i]![0]] : [];
  });
}

async function serves(): Promise<void> {
  const endMs = performance.now() + DEADLINE_MS;
  while (performance.now() < endMs) {
    try {
      return await node.state.ping();
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      await sleep(20);
    }
  }
}

describe('a server that', () => {
  test('was killed: all calls are refused, a hint is dropped, who revokes is told, and it is served again when it is back', async () => {
    await redis.kill();
    await expect.poll(async () => (await refusals()).length).toBe(CALLS.length);
    await node.wakeup.publishLarge([{ conv: 'c', rev: 1, op: 'message', newcomers: [] }]);
    await expect(node.wakeup.publishDisconnect('ann', null)).rejects.toThrow(Unavailable);
    await redis.start();
    await serves();
    expect(await node.state.read('ann')).toBeNull();
    expect(node.faults.every((fault) => fault instanceof Unavailable)).toBe(true);
  });

  test('hangs: calls that are under way are refused too, and what it holds is there when it goes on', async () => {
    redis.pause();
    expect(await refusals()).toEqual(CALLS.map(([name]) => name));
    redis.resume();
    await serves();
    const view = await node.state.read('ann');
    // What had been sent may have been carried out: only a hint of the state of ann may be left.
    expect(view === null || view.total === 2 || view.total === 0).toBe(true);
  });

  test('forgot the scripts: they are brought again with the call', async () => {
    await redis.admin.script('FLUSH');
    expect(await node.state.read('ann')).toMatchObject({ total: 2 });
    await redis.admin.script('FLUSH');
    expect(await node.state.beginBuild('bob', 'token', 1000)).toBe(true);
  });

  test('cuts a connection while it subscribes: it is made again, and nothing is left unhandled', async () => {
    const proxy = await openTcpProxy(redis.port);
    const fences = new MemoryFences();
    const [near, far] = await Promise.all([
      openRedisNode(redis.url, fences),
      openRedisNode(`redis://127.0.0.1:${proxy.port}`, fences),
    ]);
    onTestFinished(async () => {
      await Promise.all([near.close(), far.close()]);
      await proxy.close();
    });
    for (let time = 1; time <= 3; time++) {
      proxy.loseAnswerTo((request) => request.toString().toLowerCase().includes('ssubscribe'));
      proxy.cut();
      await expect.poll(() => proxy.lost).toBe(time);
    }
    let heard = 0;
    far.wakeup.subscribe({ changes: () => {}, large: () => {}, disconnect: () => heard++ });
    const tell = async () => {
      await near.wakeup.publishDisconnect('ann', null);
      return heard;
    };
    await expect.poll(tell, { interval: 50 }).toBeGreaterThan(0);
  });

  test('is not there at the start: the node opens all the same, and serves when it comes', async () => {
    await redis.kill();
    const late = await openRedisNode(redis.url, new MemoryFences());
    onTestFinished(() => late.close());
    await expect(late.state.ping()).rejects.toThrow(Unavailable);
    await redis.start();
    await expect
      .poll(async () =>
        late.state.ping().then(
          () => 'served',
          () => 'refused',
        ),
      )
      .toBe('served');
  });
});
