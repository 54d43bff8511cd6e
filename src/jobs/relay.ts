import { Unavailable } from '../errors.ts';
import type { Metrics } from '../metrics.ts';
import type { Clock, OutboxRow, Truth } from '../ports.ts';
import type { FanOut } from '../services/fan-out.ts';
import { type Job, schedule } from './schedule.ts';

export interface RelayOptions {
  readonly truth: Pick<Truth, 'outbox' | 'outboxDone'>;
  readonly fanOut: Pick<FanOut, 'again'>;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly onError: (error: unknown) => void;
  readonly intervalMs?: number;
  /** A row this old belongs to nobody who is still at it. */
  readonly olderThanMs?: number;
}

const INTERVAL_MS = 1000;
const OLDER_THAN_MS = 5000;
const BATCH_ROWS = 500;

/**
 * Flow 3, relay: what a node committed and did not fan out to the end (it died, or the state was away) is fanned out again by any
 * node. Harmless when it was done after all, since revs decide. The rows are claimed in truth, so that nodes share the work.
 */
export function createRelayJob(options: RelayOptions): Job {
  const { truth, clock, onError, intervalMs = INTERVAL_MS, olderThanMs = OLDER_THAN_MS } = options;
  const run = async (): Promise<void> => {
    for (;;) {
      const rows = await truth.outbox(olderThanMs, BATCH_ROWS);
      await relay(options, rows);
      if (rows.length < BATCH_ROWS) return;
    }
  };
  return schedule({ clock, intervalMs, run, onError });
}

/** A fault in one row must not keep the others: what fails together is tried row by row, and what fails alone stays. */
async function relay(options: RelayOptions, rows: readonly OutboxRow[]): Promise<void> {
  if (rows.length === 0) return;
  const { truth, fanOut, metrics, onError } = options;
  try {
    await fanOut.again(rows);
    await truth.outboxDone(rows.map(({ id }) => id));
    metrics.relayed(rows.length);
  } catch (error) {
    if (error instanceof Unavailable) throw error;
    if (rows.length === 1) return onError(error);
    for (const row of rows) await relay(options, [row]);
  }
}
