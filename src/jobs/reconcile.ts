import type { Log } from '../log.ts';
import type { Clock, Leases } from '../ports.ts';
import type { Reconcile } from '../services/reconcile.ts';
import { onOneNode } from './on-one-node.ts';
import { type Job, schedule } from './schedule.ts';

export interface ReconcileJobOptions {
  readonly reconcile: Pick<Reconcile, 'step'>;
  readonly leases: Pick<Leases, 'hold'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly intervalMs: number;
  /** Users of one run; the next run goes on after them. */
  readonly usersMax: number;
  readonly onError: (error: unknown) => void;
}

/**
 * Flow 8 in the background, on one node at a time: walks all users round and round, a few at a time, and repairs what differs from
 * truth. `usersMax` and `intervalMs` bound what it costs, however many nodes there are.
 */
export function createReconcileJob(options: ReconcileJobOptions): Job {
  const { reconcile, leases, clock, log, intervalMs, usersMax, onError } = options;
  let after: string | null = null;
  const run = async (): Promise<void> => {
    const { answer, next } = await reconcile.step(after, usersMax, true);
    after = next;
    if (answer.wrong > 0) log.warn(answer, 'reconcile found users whose state differs from truth');
  };
  return schedule({ clock, intervalMs, run: onOneNode(leases, run), onError });
}
