import { describe, expect, test } from 'vitest';
import { deriveRow } from '../../../src/core/row.ts';
import type { StateStore, Truth } from '../../../src/ports.ts';
import { overriding } from '../../support/overriding.ts';
import { openServiceBench } from '../../support/service-bench.ts';
import { createStop } from '../../support/stop.ts';

/** ARCHITECTURE, flows: builds beside what changes meanwhile. One side stands still where the test says so, and the other one passes. */
const GROUP_THRESHOLD = 500;
const TAKE_OVER_MS = 10_000;
const OFTEN = { interval: 5 };

const founding = { type: 'conversation.created', conv: 'c', members: ['ann', 'bob'] };

/** A build has read truth, and stands still before it ends. */
function benchWithStoppedBuild() {
  const stop = createStop();
  const met = Promise.withResolvers<void>();
  let stops = false;
  const bench = openServiceBench({
    truth: (inner) =>
      overriding<Truth>(inner, {
        async rowsOfUser(user) {
          const rows = await inner.rowsOfUser(user);
          if (stops) await stop.here();
          return rows;
        },
      }),
    state: (inner) =>
      overriding<StateStore>(inner, {
        async apply(calls) {
          const answers = await inner.apply(calls);
          if (answers.some(({ kind }) => kind === 'building')) met.resolve();
          return answers;
        },
      }),
  });
  return {
    bench,
    begin: async () => {
      stops = true;
      const built = bench.services.sync.view('ann');
      await stop.reached;
      stops = false;
      return { built, end: stop.letGo };
    },
    /** Resolves when something was offered to the state that is being built. */
    met: met.promise,
  };
}

describe('a build that has read truth', () => {
  test('[SY10] and a message that is fanned out before it ends: it is counted once', async () => {
    const { bench, begin } = benchWithStoppedBuild();
    await bench.accept(founding);
    const { built, end } = await begin();
    await bench.say('c', 'bob', ['m1']);
    end();
    expect((await built).total).toBe(1);
    await bench.say('c', 'bob', ['m2']);
    expect(await bench.unread('ann', 'c')).toBe(2);
  });

  test('[SY10][AK4] and an ack that reaches the state before it ends: both answer what was read', async () => {
    const { bench, begin, met } = benchWithStoppedBuild();
    await bench.accept(founding);
    await bench.say('c', 'bob', ['m1', 'm2', 'm3']);
    const { built, end } = await begin();
    const acked = bench.services.commands.ack('ann', [{ conv: 'c', seq: 2 }]);
    await met;
    end();
    expect((await built).total).toBe(1);
    expect(await acked).toMatchObject({ total: 1, items: [{ status: 'applied', unread: 1 }] });
  });
});

describe('a build of another node', () => {
  function benchBesideBuild() {
    const met = Promise.withResolvers<void>();
    let tries = 0;
    const bench = openServiceBench({
      state: (inner) =>
        overriding<StateStore>(inner, {
          beginBuild: async (user, token, takeOverAfterMs) => {
            tries++;
            return inner.beginBuild(user, token, takeOverAfterMs);
          },
          apply: async (calls) => {
            const answers = await inner.apply(calls);
            if (answers.some(({ kind }) => kind === 'building')) met.resolve();
            return answers;
          },
        }),
    });
    return { bench, tries: () => tries, met: met.promise };
  }

  test('[AK4][AK5] that has read truth before an ack: the ack is answered with its effect, whatever that node still has to derive', async () => {
    const { bench, met } = benchBesideBuild();
    await bench.accept(founding);
    await bench.say('c', 'bob', ['m1', 'm2', 'm3']);
    await bench.state.beginBuild('ann', 'token of another node', TAKE_OVER_MS);
    const rows = (await bench.truth.rowsOfUser('ann')).map((facts) => deriveRow(facts, GROUP_THRESHOLD));
    const acked = bench.services.commands.ack('ann', [{ conv: 'c', seq: 2 }]);
    await met;
    // The other node dies here, or takes its time: nobody derives the rows that are handed back to it.
    const { dirty } = await bench.state.completeBuild('ann', 'token of another node', 'theirs', rows, true);
    expect(dirty).toEqual(['c']);
    expect(await acked).toMatchObject({ epoch: 'theirs', total: 1, items: [{ status: 'applied', unread: 1 }] });
    expect(bench.changes.at(-1)).toMatchObject({ user: 'ann', op: 'read', total: 1 });
  });

  test('[SY10] is waited for, and its epoch is that of both', async () => {
    const { bench, tries } = benchBesideBuild();
    await bench.accept(founding);
    await bench.state.beginBuild('ann', 'token of another node', TAKE_OVER_MS);
    const view = bench.services.sync.view('ann');
    await expect.poll(tries, OFTEN).toBeGreaterThan(2);
    const rows = (await bench.truth.rowsOfUser('ann')).map((facts) => deriveRow(facts, GROUP_THRESHOLD));
    const { stored } = await bench.state.completeBuild('ann', 'token of another node', 'theirs', rows);
    expect([stored, (await view).epoch]).toEqual([true, 'theirs']);
  });

  test('[SY10] that died is taken over after 10 s', async () => {
    const { bench, tries } = benchBesideBuild();
    await bench.accept(founding);
    await bench.say('c', 'bob', ['m1']);
    await bench.state.beginBuild('ann', 'token of a node that died', TAKE_OVER_MS);
    const view = bench.services.sync.view('ann');
    await expect.poll(tries, OFTEN).toBeGreaterThan(2);
    bench.aheadMs += TAKE_OVER_MS;
    expect((await view).total).toBe(1);
  });
});

/** Before each attempt to store what it has built, a message is posted by another node. */
function openBusyBuild(own: (truth: Truth) => Partial<Truth> = () => ({})) {
  let truth: Truth;
  let memory: StateStore;
  let posted = 0;
  const one = openServiceBench({
    truth: (inner) => {
      truth = inner;
      return overriding<Truth>(inner, own(inner));
    },
    state: (inner) => {
      memory = inner;
      return overriding<StateStore>(inner, {
        async completeBuild(...build) {
          await other.say('c', 'bob', [`m${++posted}`]);
          return inner.completeBuild(...build);
        },
      });
    },
  });
  const other = openServiceBench({ truth: () => truth, state: () => memory });
  return { one, other, posted: () => posted };
}

describe('what changes while a build is under way', () => {
  test('[SY10] a node dies while it derives that: nothing is stored, and the next node reads truth anew', async () => {
    const dies = createStop();
    const { one, other } = openBusyBuild(() => ({ rows: () => dies.here() as Promise<never> }));
    await other.accept(founding);
    one.services.sync.view('ann').catch(() => {});
    await dies.reached;
    expect(await other.state.read('ann')).toBeNull();
    // The state lies with the first node, and so does its clock.
    one.aheadMs += TAKE_OVER_MS;
    expect((await other.services.sync.view('ann')).total).toBe(1);
  });

  test('[SY10] without a pause: the build ends all the same, with all of it', async () => {
    const { one, other, posted } = openBusyBuild();
    await other.accept(founding);
    const { total } = await one.services.sync.view('ann');
    expect(posted()).toBeGreaterThan(1);
    expect(total).toBe(posted());
  });
});
