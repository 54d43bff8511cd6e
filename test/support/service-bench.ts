/** The services over a real SQLite file and the memory state, with what tests want to see and to break. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { noMetrics } from '../../src/metrics.ts';
import type { Change, Clock, LargeNotice, StateStore, Truth } from '../../src/ports.ts';
import { createServices, type Services } from '../../src/services/services.ts';
import { createMemoryEpochs } from '../../src/state/memory-epochs.ts';
import { createMemoryState } from '../../src/state/memory.ts';
import { createMemoryWakeup } from '../../src/state/memory-wakeup.ts';
import { systemClock, systemRandom } from '../../src/system.ts';
import { openSqliteTruth } from '../../src/truth/sqlite/open.ts';
import { LossyState } from './lossy-state.ts';

export interface ServiceBench {
  readonly services: Services;
  readonly truth: Truth;
  readonly state: LossyState;
  readonly changes: Change[];
  readonly notices: LargeNotice[];
  /** Faults that no caller waited for. */
  readonly errors: unknown[];
  /** By how much the steady clock of the services and of their state is ahead of the real one. */
  aheadMs: number;
  /** Posts, demands that each event is accepted, and waits until it is fanned out. */
  accept(...events: object[]): Promise<void>;
  /** conversation, numbered messages of `sender`: m1 … mn, seqs 1 … n on a new conversation. */
  say(conv: string, sender: string, ids: readonly string[], extra?: object): Promise<void>;
  unread(user: string, conv: string): Promise<number | undefined>;
}

export const DIVERGENCE_COOL_DOWN_MS = 60_000;

export function openServiceBench(
  options: {
    groupThreshold?: number;
    truth?: (inner: Truth) => Truth;
    state?: (inner: StateStore) => StateStore;
    sampleRows?: number;
  } = {},
): ServiceBench {
  const folder = mkdtempSync(path.join(tmpdir(), 'tidemark-services-'));
  const sqlite = openSqliteTruth({ file: path.join(folder, 'truth.sqlite') });
  const truth = options.truth?.(sqlite) ?? sqlite;
  const clock: Clock = { ...systemClock, steadyMs: () => systemClock.steadyMs() + bench.aheadMs };
  const memory = createMemoryState({ clock });
  const state = new LossyState(options.state?.(memory) ?? memory);
  const wakeup = createMemoryWakeup();
  const changes: Change[] = [];
  const notices: LargeNotice[] = [];
  const errors: unknown[] = [];
  wakeup.subscribe({
    changes: (more) => void changes.push(...more),
    large: (more) => void notices.push(...more),
    disconnect: () => {},
  });
  const services = createServices({
    truth,
    state,
    epochs: createMemoryEpochs({ random: systemRandom }),
    wakeup,
    clock,
    random: systemRandom,
    metrics: noMetrics,
    groupThreshold: options.groupThreshold ?? 500,
    largeMergeMs: 5,
    buildsMax: 4,
    divergenceCoolDownMs: DIVERGENCE_COOL_DOWN_MS,
    reconcileSampleRows: options.sampleRows ?? 3,
    onError: (error) => void errors.push(error),
  });
  onTestFinished(async () => {
    await services.post.settled();
    await services.commands.flush();
    await sqlite.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const bench: ServiceBench = {
    services,
    truth,
    state,
    changes,
    notices,
    errors,
    aheadMs: 0,
    async accept(...events) {
      const results = await services.post.post(events);
      const refused = results.find((result) => !result.ok);
      if (refused) throw new Error(`refused: ${JSON.stringify(refused)}`);
      await services.post.settled();
    },
    say: (conv, sender, ids, extra = {}) =>
      bench.accept(...ids.map((message_id) => ({ type: 'message.created', conv, sender, message_id, ...extra }))),
    async unread(user, conv) {
      const { rows } = await services.reads.rows(user, [conv]);
      return rows[0]?.unread;
    },
  };
  return bench;
}
