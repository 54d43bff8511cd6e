import type { Metrics } from '../metrics.ts';
import type { Clock, Leases, Truth } from '../ports.ts';
import { onOneNode } from './on-one-node.ts';
import { type Job, schedule } from './schedule.ts';

export interface TrimEventsOptions {
  readonly truth: Pick<Truth, 'trimEvents'>;
  readonly leases: Pick<Leases, 'hold'>;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** How long an event_id is remembered, from its acceptance. */
  readonly retentionMs: number;
  readonly onError: (error: unknown) => void;
}

const INTERVAL_MS = 60_000;
/** Short deletes, so that no post waits for long; twenty of them a minute are more than 300 events a second. */
const BATCH_EVENTS = 1000;
const BATCHES_MAX = 20;

/** Forgets event ids that are older than any retry; without it they would be the only facts that grow for ever unread. */
export function createTrimEventsJob(options: TrimEventsOptions): Job {
  const { truth, leases, clock, metrics, retentionMs, onError } = options;
  const run = async (): Promise<void> => {
    const acceptedBeforeMs = clock.nowMs() - retentionMs;
    for (let batch = 0; batch < BATCHES_MAX; batch++) {
      const trimmed = await truth.trimEvents(acceptedBeforeMs, BATCH_EVENTS);
      metrics.eventIdsTrimmed(trimmed);
      if (trimmed < BATCH_EVENTS) return;
    }
  };
  return schedule({ clock, intervalMs: INTERVAL_MS, run: onOneNode(leases, run), onError });
}
