import { describe, expect, test } from 'vitest';
import { Deadline } from '../../../src/deadline.ts';
import { Unavailable } from '../../../src/errors.ts';
import { Batcher } from '../../../src/services/batcher.ts';
import { CommandLanes } from '../../../src/services/command-lanes.ts';
import { createHandClock } from '../../support/hand-clock.ts';

const WITHIN_MS = 2300;

function waitedFor(work = new Promise<string>(() => {})) {
  const clock = createHandClock();
  const deadline = new Deadline(clock);
  const late: unknown[] = [];
  let outcome: unknown = 'open';
  const told = deadline
    .meet(work, (error) => late.push(error))
    .then(
      (value) => (outcome = value),
      (error: unknown) => (outcome = error),
    );
  return { clock, deadline, late, told, outcome: () => outcome };
}

/** Lets everything that is due happen. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('[DT8] a deadline', () => {
  test('ends the waiting with the advice to come back, and not before', async () => {
    const { clock, outcome } = waitedFor();
    await clock.pass(WITHIN_MS - 1);
    await settled();
    expect(outcome()).toBe('open');
    await clock.pass(1);
    await settled();
    expect(outcome()).toBeInstanceOf(Unavailable);
    expect(outcome()).toMatchObject({ code: 'unavailable', retryMs: 1000 });
  });

  test('passes an answer and a failure on; one that comes after it is told to whoever keeps the log', async () => {
    const answered = waitedFor(Promise.resolve('answer'));
    expect(await answered.told).toBe('answer');
    const failure = new Error('refused');
    const failed = waitedFor(Promise.reject(failure));
    expect(await failed.told).toBe(failure);
    const { promise, reject } = Promise.withResolvers<string>();
    const lagging = waitedFor(promise);
    await lagging.clock.pass(WITHIN_MS);
    await lagging.told;
    reject(failure);
    await settled();
    expect([answered.late, failed.late, lagging.late]).toEqual([[], [], [failure]]);
  });

  test('does not run while the caller is still speaking', async () => {
    const { clock, deadline, outcome } = waitedFor();
    deadline.suspend();
    await clock.pass(60_000);
    await settled();
    expect([outcome(), deadline.isOver]).toEqual(['open', false]);
    deadline.begin();
    await clock.pass(WITHIN_MS);
    await settled();
    expect(outcome()).toBeInstanceOf(Unavailable);
  });

  test('moves on with work whose steps come fast, and with no other', async () => {
    const fast = waitedFor();
    for (let step = 0; step < 20; step++) {
      await fast.clock.pass(500);
      fast.deadline.goesOn();
    }
    await settled();
    expect(fast.outcome()).toBe('open');
    const slow = waitedFor();
    await slow.clock.pass(2000);
    slow.deadline.goesOn();
    await slow.clock.pass(300);
    await settled();
    expect(slow.outcome()).toBeInstanceOf(Unavailable);
    expect(() => slow.deadline.demand()).toThrow(Unavailable);
  });
});

describe('[DT8] what waits for its turn longer than anybody waits for it', () => {
  test('is refused by a batcher and not begun', async () => {
    const clock = createHandClock();
    const ran: string[][] = [];
    let open = (): void => {};
    const batcher = new Batcher<{ name: string; deadline?: Deadline }, string>({
      run: async (items) => {
        ran.push(items.map(({ name }) => name));
        await new Promise<void>((resolve) => (open = resolve));
        return items.map(({ name }) => name);
      },
      batchWeightMax: 10,
      waitingWeightMax: 10,
      soon: (run) => run(),
      deadlineOf: ({ deadline }) => deadline,
    });
    const first = batcher.add({ name: 'first' });
    const late = batcher.add({ name: 'late', deadline: new Deadline(clock) });
    late.catch(() => {});
    await clock.pass(WITHIN_MS);
    const last = batcher.add({ name: 'last', deadline: new Deadline(clock) });
    open();
    expect(await first).toBe('first');
    await expect(late).rejects.toThrow(Unavailable);
    open();
    expect(await last).toBe('last');
    expect([ran, batcher.waitingWeight]).toEqual([[['first'], ['last']], 0]);
  });

  test('[AK4] is refused by the lane of its user and never carried out', async () => {
    const clock = createHandClock();
    const ran: string[] = [];
    let open = (): void => {};
    const lanes = new CommandLanes<string, string>({
      run: async (_, queued) => {
        for (const { command, resolve } of queued) {
          ran.push(command);
          await new Promise<void>((done) => (open = done));
          resolve(command);
        }
      },
      countTogether: () => 1,
      waitingMax: 10,
    });
    const first = lanes.add('ann', 'first');
    await settled();
    const late = lanes.add('ann', 'muted', new Deadline(clock));
    late.catch(() => {});
    await clock.pass(WITHIN_MS);
    const last = lanes.add('ann', 'not muted', new Deadline(clock));
    open();
    await settled();
    open();
    expect([await first, await last]).toEqual(['first', 'not muted']);
    await expect(late).rejects.toThrow(Unavailable);
    expect(ran).toEqual(['first', 'not muted']);
  });
});
