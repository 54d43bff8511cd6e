import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Unavailable } from '../../src/errors.ts';
import type { Clock, Leases } from '../../src/ports.ts';
import { claimSoleNode } from '../../src/sole-node.ts';
import { createHandClock } from '../support/hand-clock.ts';

/** The leases of truth, by the clock that the nodes have too; away while `isAway`. */
function createTruth(clock: Clock) {
  const truth = { isAway: false, answersAfterMs: 0, holder: '', untilMs: 0, leasesOf };
  function leasesOf(node: string): Leases {
    const ask = async (mayTake: () => boolean, forMs: number): Promise<boolean> => {
      if (truth.isAway) throw new Unavailable('truth is away', 1000);
      if (truth.holder !== node && mayTake()) truth.holder = node;
      if (truth.holder === node) truth.untilMs = clock.steadyMs() + forMs;
      const isOurs = truth.holder === node;
      if (truth.answersAfterMs > 0) await new Promise<void>((resolve) => clock.after(truth.answersAfterMs, resolve));
      return isOurs;
    };
    return {
      hold: (_, forMs) => ask(() => truth.untilMs <= clock.steadyMs(), forMs),
      keep: (_, forMs) => ask(() => false, forMs),
    };
  }
  return truth;
}

function createScene() {
  const clock = createHandClock();
  const truth = createTruth(clock);
  const told: string[] = [];
  const claim = (node: string) =>
    claimSoleNode({
      leases: truth.leasesOf(node),
      clock,
      onWait: () => told.push(`${node} waits`),
      onError: () => told.push(`${node} cannot ask`),
      onLost: () => told.push(`${node} lost it`),
    });
  return { clock, truth, told, claim };
}

test('[SY10] the claim outlasts a truth that is away, is in doubt after a while, and is held again when nobody else had it', async () => {
  const { clock, truth, told, claim } = createScene();
  const one = await claim('one');
  await clock.pass(60_000);
  expect(one.isHeld()).toBe(true);
  truth.isAway = true;
  await clock.pass(3_000);
  expect(one.isHeld()).toBe(true);
  await clock.pass(6_000);
  expect(one.isHeld()).toBe(false);
  expect(new Set(told)).toEqual(new Set(['one cannot ask']));
  truth.isAway = false;
  await clock.pass(1_500);
  expect(one.isHeld()).toBe(true);
  await one.release();
  expect(clock.waiting).toBe(0);
});

test('[SY10] a claim runs out at the node no later than in a truth that is slow to answer', async () => {
  const { clock, truth, claim } = createScene();
  const one = await claim('one');
  truth.answersAfterMs = 2_000;
  // Asked for at 1.5 s, answered at 3.5 s.
  await clock.pass(3_500);
  truth.isAway = true;
  await clock.pass(truth.untilMs - clock.steadyMs() - 1);
  expect(one.isHeld()).toBe(true);
  await clock.pass(1);
  expect(one.isHeld()).toBe(false);
});

test('[SY10] a second node is refused while the first one runs, and need not wait for one that has ended', async () => {
  const { clock, told, claim } = createScene();
  const one = await claim('one');
  const refused = claim('two').catch((error: Error) => error.message);
  await turn();
  await clock.pass(8_000);
  expect(await refused).toMatch(/another node uses this database.*TIDEMARK_REDIS_URL/);
  expect(told).toEqual(['two waits']);
  expect(one.isHeld()).toBe(true);
  await one.release();
  expect((await claim('two')).isHeld()).toBe(true);
});

test('[SY10] a node that was killed is waited for until its claim has run out, and no longer', async () => {
  const { clock, claim, truth } = createScene();
  await truth.leasesOf('killed').hold('sole-node', 6_000);
  let next: unknown = null;
  void claim('next').then((claimed) => (next = claimed));
  await turn();
  await clock.pass(5_900);
  expect(next).toBeNull();
  await clock.pass(300);
  expect(next).not.toBeNull();
});

test('[SY10] an answer that was long on its way tells of a claim that has run out meanwhile, and refuses nobody', async () => {
  const { clock, claim, truth } = createScene();
  await truth.leasesOf('killed').hold('sole-node', 6_000);
  // Asked for at 5.5 s, when the claim stood, and answered at 8 s.
  truth.answersAfterMs = 2_500;
  const next = claim('next');
  await turn();
  await clock.pass(11_000);
  expect((await next).isHeld()).toBe(true);
});

for (const isOver of [false, true]) {
  test(`[SY10] another node ${isOver ? 'had the claim and has ended' : 'has the claim'}: told once, and never held again`, async () => {
    const { clock, truth, told, claim } = createScene();
    const one = await claim('one');
    truth.isAway = true;
    await clock.pass(7_000);
    truth.isAway = false;
    const two = claimSoleNode({ leases: truth.leasesOf('two'), clock, onError: () => {}, onLost: () => {} });
    if (isOver) await (await two).release();
    told.length = 0;
    await clock.pass(10_000);
    expect(told).toEqual(['one lost it']);
    expect(one.isHeld()).toBe(false);
    await one.release();
    expect((await two).isHeld()).toBe(!isOver);
  });
}
