import { describe, expect, test } from 'vitest';
import { Unavailable } from '../../../src/errors.ts';
import { createRelayJob } from '../../../src/jobs/relay.ts';
import { noMetrics } from '../../../src/metrics.ts';
import type { OutboxRow } from '../../../src/ports.ts';
import { createHandClock } from '../../support/hand-clock.ts';

const INTERVAL_MS = 100;

/** An outbox as truth keeps it, and a fan-out that fails where the test says so. */
function relayOver(rows: readonly OutboxRow[], failing: (conv: string) => Error | null = () => null) {
  const clock = createHandClock();
  const left = new Map(rows.map((row) => [row.id, row]));
  const fannedOut: string[] = [];
  const errors: unknown[] = [];
  let relayed = 0;
  const job = createRelayJob({
    truth: {
      outbox: async (olderThanMs, limit) => (olderThanMs > 0 ? [...left.values()].slice(0, limit) : []),
      outboxDone: async (ids) => ids.forEach((id) => left.delete(id)),
    },
    fanOut: {
      async again(targets) {
        for (const { conv } of targets) {
          const error = failing(conv);
          if (error) throw error;
        }
        fannedOut.push(...targets.map(({ conv }) => conv));
      },
    },
    clock,
    metrics: { ...noMetrics, relayed: (count) => void (relayed += count) },
    onError: (error) => errors.push(error),
    intervalMs: INTERVAL_MS,
  });
  return { clock, job, left, fannedOut, errors, relayed: () => relayed };
}

function row(id: number): OutboxRow {
  return { id, conv: `c${id}`, user: null, createdAtMs: 0 };
}

describe('the relay', () => {
  test('goes on until nothing is left, and counts what it did', async () => {
    const rows = Array.from({ length: 1100 }, (_, i) => row(i));
    const { clock, job, left, fannedOut, relayed } = relayOver(rows);
    job.start();
    await clock.pass(INTERVAL_MS);
    await job.stop();
    expect(left.size).toBe(0);
    expect(fannedOut).toEqual(rows.map(({ conv }) => conv));
    expect(relayed()).toBe(1100);
  });

  test('is not held up by a row that fails for a reason of its own; that one stays', async () => {
    const { clock, job, left, fannedOut, errors } = relayOver([row(1), row(2), row(3)], (conv) =>
      conv === 'c2' ? new Error('of this row alone') : null,
    );
    job.start();
    await clock.pass(INTERVAL_MS);
    await job.stop();
    expect([...left.keys()]).toEqual([2]);
    expect(fannedOut).toEqual(['c1', 'c3']);
    expect(errors).toHaveLength(1);
  });

  test('[CN9] leaves everything where the state is away, and tries again', async () => {
    let isAway = true;
    const { clock, job, left, errors } = relayOver([row(1), row(2)], () =>
      isAway ? new Unavailable('away', 1) : null,
    );
    job.start();
    await clock.pass(INTERVAL_MS);
    expect(left.size).toBe(2);
    expect(errors).toHaveLength(1);
    isAway = false;
    await clock.pass(INTERVAL_MS);
    await job.stop();
    expect(left.size).toBe(0);
  });
});
