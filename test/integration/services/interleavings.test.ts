import { describe, expect, onTestFinished, test } from 'vitest';
import { deriveRow } from '../../../src/core/row.ts';
import { createRelayJob } from '../../../src/jobs/relay.ts';
import { noMetrics } from '../../../src/metrics.ts';
import type { StateStore, Truth } from '../../../src/ports.ts';
import { systemClock } from '../../../src/system.ts';
import { overriding } from '../../support/overriding.ts';
import { openServiceBench, type ServiceBench } from '../../support/service-bench.ts';
import { createStop } from '../../support/stop.ts';
import { factsOf } from '../../support/truth-model.ts';

/** ARCHITECTURE, each of its interleavings forced: one side stands still where the test says so, and the other one passes. */
const GROUP_THRESHOLD = 500;
const OFTEN = { interval: 5 };

const founding = { type: 'conversation.created', conv: 'c', members: ['ann', 'bob'] };

function message(conv: string, message_id: string) {
  return { type: 'message.created', conv, message_id, sender: 'bob' };
}

/** Two nodes over one truth and one state, which outlives both. */
function openTwoNodes() {
  let memory: StateStore;
  const one = openServiceBench({
    state: (inner) => (memory = overriding<StateStore>(inner, { outlivesProcess: true })),
  });
  const other = openServiceBench({ truth: () => one.truth, state: () => memory });
  return { one, other };
}

describe('a node that dies between truth and state', () => {
  test.each([
    ['[AK4] an ack', ({ services }: ServiceBench) => services.commands.ack('ann', [{ conv: 'c', seq: 2 }])],
    ['[LC3] a clear', ({ services }: ServiceBench) => services.commands.clear('ann', { conv: 'c' })],
    [
      '[LC3] a clear that only puts the row away',
      ({ services }: ServiceBench) => services.commands.clear('ann', { conv: 'read', up_to_seq: 0 }),
    ],
    ['[LC5] a mute', ({ services }: ServiceBench) => services.commands.prefs('ann', { conv: 'c', muted: true })],
    ['[CN1] a message', ({ services }: ServiceBench) => services.post.post([message('c', 'm4')])],
    [
      '[CN6] a recall',
      ({ services }: ServiceBench) => services.post.post([{ type: 'message.recalled', conv: 'c', message_id: 'm2' }]),
    ],
    [
      '[LC1] a join',
      ({ services }: ServiceBench) => services.post.post([{ type: 'member.joined', conv: 'd', users: ['ann'] }]),
    ],
    [
      '[LC2] a leave',
      ({ services }: ServiceBench) => services.post.post([{ type: 'member.left', conv: 'c', users: ['ann'] }]),
    ],
  ])('%s is in truth and not in the state: the relay of another node brings it there', async (_, act) => {
    const { one, other } = openTwoNodes();
    await one.accept(founding, { ...founding, conv: 'd', members: ['bob'] }, { ...founding, conv: 'read' });
    await one.say('c', 'bob', ['m1', 'm2', 'm3']);
    await one.say('read', 'bob', ['m1']);
    await one.services.commands.ack('ann', [{ conv: 'read', seq: 1 }]);
    await other.services.sync.view('ann');
    const before = await rowsInTruth(one);
    one.state.away = true;
    const left = act(one);
    await expect.poll(() => rowsInTruth(one), OFTEN).not.toEqual(before);
    expect(await rowsInState(other)).toEqual(before);

    await relay(other);
    expect(await rowsInState(other)).toEqual(await rowsInTruth(one));
    one.state.away = false;
    await left;
  });

  test('[CN9] what is owed stays owed until the state has answered: a message', async () => {
    const { bench, stop, stopNext, owed } = benchWithStoppedState();
    await bench.accept(founding);
    await bench.services.sync.view('ann');
    stopNext();
    const posted = bench.services.post.post([message('c', 'm1')]);
    await stop.reached;
    expect(await owed()).toBeGreaterThan(0);
    stop.letGo();
    await posted;
    await expect.poll(owed, OFTEN).toBe(0);
  });

  test('[AK4] what is owed stays owed until the state has answered: an ack', async () => {
    const { bench, stop, stopNext, owed } = benchWithStoppedState();
    await bench.accept(founding);
    await bench.say('c', 'bob', ['m1']);
    await bench.services.sync.view('ann');
    await expect.poll(owed, OFTEN).toBe(0);
    stopNext();
    const acked = bench.services.commands.ack('ann', [{ conv: 'c', seq: 1 }]);
    await stop.reached;
    expect(await owed()).toBeGreaterThan(0);
    stop.letGo();
    await acked;
    await expect.poll(owed, OFTEN).toBe(0);
  });
});

/** The state outlives its nodes; a call that reaches it after `stopNext` stands still. */
function benchWithStoppedState() {
  const stop = createStop();
  let stops = false;
  const bench = openServiceBench({
    state: (inner) =>
      overriding<StateStore>(inner, {
        outlivesProcess: true,
        async apply(calls) {
          if (stops) await stop.here();
          return inner.apply(calls);
        },
      }),
  });
  return {
    bench,
    stop,
    stopNext: () => void (stops = true),
    /** Counted behind whatever is being written down now. */
    owed: async () => {
      await bench.truth.transact(async () => {});
      return (await bench.truth.outbox(0, 100)).length;
    },
  };
}

test('[CN9] changes of one conversation that were committed on two nodes by turns: what one of them merges leaves no hole', async () => {
  const stop = createStop();
  let stops = false;
  let memory: StateStore;
  const one = openServiceBench({
    state: (inner) => {
      memory = inner;
      return overriding<StateStore>(inner, {
        async apply(calls) {
          if (stops) await stop.here();
          return inner.apply(calls);
        },
      });
    },
  });
  const other = openServiceBench({ truth: () => one.truth, state: () => memory });
  await one.accept(founding, { ...founding, conv: 'd' });
  await one.services.sync.view('ann');
  // What the other node has to tell has not arrived yet.
  other.state.losing = true;
  stops = true;
  const posts = [one.services.post.post([message('d', 'd1')])];
  await stop.reached;
  for (const [n, node] of [one, other, one].entries()) {
    posts.push(node.services.post.post([message('c', `m${n + 1}`)]));
    await expect.poll(async () => (await one.truth.heads(['c'])).get('c')?.headSeq, OFTEN).toBe(n + 1);
  }
  stops = false;
  stop.letGo();
  await Promise.all(posts);
  await one.services.post.settled();
  expect(await one.unread('ann', 'c')).toBe(3);
});

test('[AK4] of commands that share a transaction one cannot be stored: it fails alone', async () => {
  const bench = openServiceBench({
    truth: (inner) =>
      overriding<Truth>(inner, {
        transact: (work) =>
          inner.transact((tx) =>
            work(
              overriding(tx, {
                async store(writes) {
                  if (writes.memberships?.some(({ user, readSeq }) => user === 'bob' && readSeq > 0))
                    throw new Error('disk says no');
                  return tx.store(writes);
                },
              }),
            ),
          ),
      }),
  });
  await bench.accept({ ...founding, members: ['ann', 'bob', 'cem'] });
  await bench.say('c', 'dan', ['m1']);
  const ack = (user: string) => bench.services.commands.ack(user, [{ conv: 'c', seq: 1 }]);
  const outcomes = await Promise.allSettled(['ann', 'bob', 'cem'].map(ack));
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect([await bench.unread('ann', 'c'), await bench.unread('bob', 'c')]).toEqual([0, 1]);
});

test('[CN1] reconcile counts while a message commits: neither truth nor the state is called wrong', async () => {
  let comes = true;
  const bench = openServiceBench({
    truth: (inner) =>
      overriding<Truth>(inner, {
        async countMessages(pair, floorSeq) {
          if (comes) await bench.say('c', 'bob', ['m2']);
          comes = false;
          return inner.countMessages(pair, floorSeq);
        },
      }),
  });
  await bench.accept(founding);
  await bench.say('c', 'bob', ['m1']);
  await bench.services.sync.view('ann');
  expect(await bench.services.reconcile.run({ users: ['ann'] })).toEqual({ checked: 1, wrong: 0, repaired: 0 });
  expect(comes).toBe(false);
});

async function rowsInTruth({ truth }: ServiceBench) {
  const rows = (await truth.rowsOfUser('ann')).map((facts) => deriveRow(facts, GROUP_THRESHOLD));
  return rows.map(factsOf).toSorted((a, b) => (a.conv < b.conv ? -1 : 1));
}

/** As the store holds them, asked for by nobody. */
async function rowsInState({ state }: ServiceBench) {
  return ((await state.read('ann'))?.rows ?? []).map(factsOf).toSorted((a, b) => (a.conv < b.conv ? -1 : 1));
}

/** Until nothing is owed. */
async function relay({ truth, services }: ServiceBench): Promise<void> {
  const errors: unknown[] = [];
  const job = createRelayJob({
    truth,
    fanOut: services.fanOut,
    clock: systemClock,
    metrics: noMetrics,
    onError: (error) => errors.push(error),
    intervalMs: 1,
    olderThanMs: 0,
  });
  job.start();
  onTestFinished(() => job.stop());
  await expect.poll(async () => (await truth.outbox(0, 1)).length, OFTEN).toBe(0);
  await job.stop();
  expect(errors).toEqual([]);
}
