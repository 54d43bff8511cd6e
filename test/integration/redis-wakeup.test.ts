import { beforeAll, beforeEach, afterAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Change, Clock, StateCall, WakeupListener } from '../../src/ports.ts';
import { systemClock } from '../../src/system.ts';
import { MemoryFences } from '../support/memory-fences.ts';
import { openRedisNode, type RedisNode } from '../support/redis-node.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { plainRow } from '../support/truth-model.ts';

/** Changes go to the nodes that hold sockets of the user, one message a node and batch; what is not known goes to all. */
const COMPARISON_MS = 25_000;
/** Longer than it takes until a state is no longer young, and a node that is silent is forgotten. */
const LONG_MS = 10 * 60_000;
const OFTEN = { interval: 5 };

interface Listening extends RedisNode {
  readonly held: Set<string>;
  readonly heard: Change[];
  /** Each time that everybody is to be compared. */
  readonly looks: unknown[];
}

let redis: RedisServer;
let fences: MemoryFences;
/** By how much the nodes' clocks are ahead of the real one; timers keep to that. */
let aheadMs: number;
/** What the steady clock shows where a test has it stand still. */
let stillMs: number | null;
const clock: Clock = {
  ...systemClock,
  nowMs: () => systemClock.nowMs() + aheadMs,
  steadyMs: () => stillMs ?? systemClock.steadyMs(),
};
let nodes: Listening[];

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(async () => redis.stop());

beforeEach(async () => {
  await redis.admin.flushall();
  fences = new MemoryFences();
  aheadMs = 0;
  stillMs = null;
  nodes = await Promise.all([openListening(), openListening(), openListening()]);
});

async function openListening(): Promise<Listening> {
  const node = await openRedisNode(redis.url, fences, { comparisonMs: COMPARISON_MS, clock });
  onTestFinished(() => node.close());
  const held = new Set<string>();
  const heard: Change[] = [];
  const looks: unknown[] = [];
  const listener: WakeupListener = {
    changes: (changes) => void heard.push(...changes),
    large: () => {},
    disconnect: () => {},
    missed: (users) => void looks.push(users),
    holds: (user) => held.has(user),
  };
  node.wakeup.subscribe(listener);
  return { ...node, held, heard, looks };
}

async function build({ state }: RedisNode, user: string): Promise<void> {
  await state.beginBuild(user, 'token', 0);
  await state.completeBuild(user, 'token', 'epoch', [plainRow({ conv: 'c' })]);
}

/** Offers each user a message, and publishes what changed. */
async function tell({ state, wakeup }: RedisNode, users: readonly string[], fromRev = 1): Promise<Change[]> {
  const messages = [{ seq: fromRev, sender: 'other', counts: true, mentionAll: false, mentions: [] }];
  const part = { conv: 'c', fromRev, toRev: fromRev + 1, headSeq: fromRev, activity: fromRev, messages };
  const calls = users.map((user): StateCall => ({ user, op: 'message', rows: [], parts: [part] }));
  const answers = await state.apply(calls);
  const changes = answers.map((answer) => (answer.kind === 'applied' ? answer.change! : null!));
  await wakeup.publishChanges(changes);
  return changes;
}

async function published(): Promise<number> {
  const stats = await redis.admin.info('commandstats');
  return Number(/cmdstat_spublish:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}

/** Until a message that goes to all has come: whatever was published to all before it has, too. */
async function drained(sender: Listening): Promise<void> {
  const before = nodes.map(({ heard }) => heard.length);
  await sender.wakeup.publishChanges([{ ...MARK, user: 'mark' }]);
  await expect
    .poll(() => nodes.every(({ heard }, i) => heard.slice(before[i]).some(({ user }) => user === 'mark')), OFTEN)
    .toBe(true);
}

const MARK: Change = {
  user: 'mark',
  epoch: 'e',
  baseVersion: 1,
  syncVersion: 2,
  op: 'message',
  rows: [],
  total: 0,
  badge: 0,
  mentions: 0,
  digest: '000000000000',
};

function usersOf({ heard }: Listening): string[] {
  return heard.filter(({ user }) => user !== 'mark').map(({ user }) => user);
}

describe('changes', () => {
  test('[AK5] go to the nodes that read the state while they held sockets of the user, in one message for each', async () => {
    const [here, there, nobody] = nodes as [Listening, Listening, Listening];
    for (const user of ['ann', 'bob', 'cem', 'dan']) await build(here, user);
    aheadMs += LONG_MS;
    there.held.add('ann').add('bob');
    nobody.held.add('cem');
    here.held.add('bob');
    for (const node of nodes) for (const user of node.held) await node.state.read(user, 1);

    const before = await published();
    const changes = await tell(here, ['ann', 'bob', 'cem', 'dan']);
    expect(changes.map(({ nodes: known }) => known?.length)).toEqual([1, 2, 1, 0]);
    await drained(here);
    // Two nodes were told, and the mark went to all; what concerns this node itself took no detour.
    expect((await published()) - before).toBe(3);
    // Each of the two on its own channel, which is not heard on the connection that the mark came by.
    await expect.poll(() => nodes.map(usersOf), OFTEN).toEqual([['bob'], ['ann', 'bob'], ['cem']]);
  });

  test('[SY10] of a state that was built not long ago go to all nodes, since some may not have read it yet', async () => {
    const [here, there] = nodes as [Listening, Listening];
    await build(here, 'ann');
    there.held.add('ann');
    await tell(here, ['ann']);
    await drained(here);
    expect(nodes.map(usersOf)).toEqual([['ann'], ['ann'], ['ann']]);
  });

  test('that go to all are spared for a moment after one has reached no other node, until another is heard of', async () => {
    const [here, there, nobody] = nodes as [Listening, Listening, Listening];
    stillMs = 0;
    await Promise.all([there.close(), nobody.close()]);
    /** Messages that tell all of a change; a roll call comes behind it, and is always made. */
    const toldAll = async (): Promise<number> => {
      const before = await published();
      await here.wakeup.publishChanges([MARK]);
      await here.wakeup.rollCall('ann');
      return (await published()) - before - 1;
    };
    await expect.poll(toldAll, OFTEN).toBe(0);
    stillMs = LONG_MS;
    expect(await toldAll()).toBe(1);
    await expect.poll(toldAll, OFTEN).toBe(0);

    const other = await openListening();
    const before = await published();
    await here.wakeup.publishChanges([MARK]);
    expect(await published()).toBe(before);
    // It has not been told, so it looks by itself.
    await expect.poll(() => other.looks).toEqual([undefined, undefined]);

    await other.wakeup.publishOpened([{ user: 'ann', device: 'phone', conn: 'one', attempt: null }]);
    const toldOther = async (): Promise<number> => {
      await here.wakeup.publishChanges([MARK]);
      return other.heard.length;
    };
    await expect.poll(toldOther, OFTEN).toBeGreaterThan(0);
  });

  test('go to a node no longer that has not read the state for several comparisons', async () => {
    const [here, there] = nodes as [Listening, Listening];
    await build(here, 'ann');
    there.held.add('ann');
    await there.state.read('ann', 1);
    for (let i = 0; i < 30; i++) {
      aheadMs += COMPARISON_MS;
      await there.state.read('ann', 1);
    }
    const [first] = await tell(here, ['ann']);
    expect(first?.nodes).toHaveLength(1);
    aheadMs += LONG_MS;
    const [second] = await tell(here, ['ann'], 2);
    expect(second?.nodes).toEqual([]);
  });

  test('a read by a node that holds no socket of the user is no reason to tell it', async () => {
    const [here, there] = nodes as [Listening, Listening];
    await build(here, 'ann');
    aheadMs += LONG_MS;
    await there.state.read('ann');
    const [only] = await tell(here, ['ann']);
    expect(only?.nodes).toEqual([]);
  });
});
