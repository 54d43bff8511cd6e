import { describe, expect, test } from 'vitest';
import { createReconcileJob } from '../../../src/jobs/reconcile.ts';
import { schedule } from '../../../src/jobs/schedule.ts';
import { createTrimEventsJob } from '../../../src/jobs/trim-events.ts';
import { createLog } from '../../../src/log.ts';
import { noMetrics } from '../../../src/metrics.ts';
import { createHandClock } from '../../support/hand-clock.ts';

const onError = (error: unknown): never => {
  throw error;
};

/** A node by itself. */
const alone = { hold: async () => true };

describe('schedule', () => {
  test('runs an interval after the start, and an interval after the end of each run', async () => {
    const clock = createHandClock();
    const startedAt: number[] = [];
    const zero = clock.nowMs();
    const run = (): Promise<void> => {
      startedAt.push(clock.nowMs() - zero);
      return new Promise((resolve) => clock.after(30, resolve));
    };
    const job = schedule({ clock, intervalMs: 100, run, onError });
    job.start();
    await clock.pass(400);
    expect(startedAt).toEqual([100, 230, 360]);
    await job.stop();
    expect(clock.waiting).toBe(0);
  });

  test('goes on after a run that failed, and says so', async () => {
    const clock = createHandClock();
    const errors: unknown[] = [];
    const run = (): Promise<void> => Promise.reject(new Error('away'));
    const job = schedule({ clock, intervalMs: 10, run, onError: (error) => errors.push(error) });
    job.start();
    await clock.pass(25);
    expect(errors).toHaveLength(2);
    await job.stop();
  });

  test('stop waits for the run that is under way, and none follows', async () => {
    const clock = createHandClock();
    let finish = (): void => {};
    let runs = 0;
    const run = (): Promise<void> => {
      runs++;
      return new Promise((resolve) => {
        finish = resolve;
      });
    };
    const job = schedule({ clock, intervalMs: 10, run, onError });
    job.start();
    await clock.pass(10);
    let isStopped = false;
    const stopped = job.stop().then(() => {
      isStopped = true;
    });
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(isStopped).toBe(false);
    finish();
    await stopped;
    await clock.pass(1000);
    expect([runs, clock.waiting]).toEqual([1, 0]);
  });
});

describe('jobs', () => {
  test('reconcile walks on from where it ended, repairs, and begins again at the end', async () => {
    const clock = createHandClock();
    const asked: unknown[] = [];
    const nexts = ['u200', 'u400', null, 'u200'];
    const reconcile = {
      step: async (...args: unknown[]) => {
        asked.push(args);
        return { answer: { checked: 200, wrong: 0, repaired: 0 }, next: nexts.shift() ?? null };
      },
    };
    const log = createLog('silent');
    const job = createReconcileJob({ reconcile, leases: alone, clock, log, intervalMs: 1000, usersMax: 200, onError });
    job.start();
    await clock.pass(4000);
    await job.stop();
    expect(asked).toEqual([
      [null, 200, true],
      ['u200', 200, true],
      ['u400', 200, true],
      [null, 200, true],
    ]);
  });

  test('event ids are forgotten in short deletes, as many as are due, up to a bound', async () => {
    const clock = createHandClock();
    const calls: [number, number][] = [];
    let due = 2500;
    const truth = {
      trimEvents: async (beforeMs: number, limit: number) => {
        calls.push([clock.nowMs() - beforeMs, limit]);
        const trimmed = Math.min(due, limit);
        due -= trimmed;
        return trimmed;
      },
    };
    const job = createTrimEventsJob({ truth, leases: alone, clock, metrics: noMetrics, retentionMs: 5000, onError });
    job.start();
    await clock.pass(60_000);
    expect(calls).toEqual([
      [5000, 1000],
      [5000, 1000],
      [5000, 1000],
    ]);
    due = 1_000_000;
    await clock.pass(60_000);
    expect(calls).toHaveLength(3 + 20);
    await job.stop();
  });

  test('[DT3] what concerns all data is done by the node that holds the lease, and goes over to another when that one is gone', async () => {
    const clock = createHandClock();
    let holder = '';
    const runs: string[] = [];
    const jobs = ['one', 'other'].map((node) => {
      const leases = {
        async hold() {
          if (holder === '') holder = node;
          return holder === node;
        },
      };
      const step = async () => {
        runs.push(node);
        return { answer: { checked: 1, wrong: 0, repaired: 0 }, next: null };
      };
      const log = createLog('silent');
      return createReconcileJob({ reconcile: { step }, leases, clock, log, intervalMs: 1000, usersMax: 200, onError });
    });
    for (const job of jobs) job.start();
    await clock.pass(2000);
    expect(runs).toEqual(['one', 'one']);
    await jobs[0]?.stop();
    holder = '';
    await clock.pass(1000);
    expect(runs).toEqual(['one', 'one', 'other']);
    await jobs[1]?.stop();
  });
});
