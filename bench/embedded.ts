/** The services on the embedded stores, without sockets or HTTP: what the truth and state lines measure. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { noMetrics } from '../src/metrics.ts';
import type { Change, StateStore, Truth, Wakeup } from '../src/ports.ts';
import { createServices, type Services } from '../src/services/services.ts';
import { createMemoryEpochs } from '../src/state/memory-epochs.ts';
import { createMemoryState } from '../src/state/memory.ts';
import { createMemoryWakeup } from '../src/state/memory-wakeup.ts';
import { systemClock, systemRandom } from '../src/system.ts';
import { openSqliteTruth } from '../src/truth/sqlite/open.ts';

export interface Embedded {
  readonly services: Services;
  readonly truth: Truth;
  readonly state: StateStore;
  readonly wakeup: Wakeup;
  /** Statements and rows of truth since the last `reset`. */
  readonly counted: { statements: number; rows: number; reset(): void };
  /** Changes pushed so far. */
  readonly changes: Change[];
  close(): Promise<void>;
}

/** `around`: what stands between the services and the state in memory. */
export function openEmbedded(around: (inner: StateStore) => StateStore = (inner) => inner): Embedded {
  const folder = mkdtempSync(path.join(tmpdir(), 'tidemark-bench-'));
  const counted = {
    statements: 0,
    rows: 0,
    reset() {
      counted.statements = 0;
      counted.rows = 0;
    },
  };
  const truth = openSqliteTruth({
    file: path.join(folder, 'truth.sqlite'),
    onStatement: (_sql, rows) => {
      counted.statements++;
      counted.rows += rows;
    },
  });
  const state = around(createMemoryState({ clock: systemClock, usersMax: 1_000_000 }));
  const wakeup = createMemoryWakeup();
  const changes: Change[] = [];
  wakeup.subscribe({ changes: (more) => void changes.push(...more), large: () => {}, disconnect: () => {} });
  const services = createServices({
    truth,
    state,
    epochs: createMemoryEpochs({ random: systemRandom }),
    wakeup,
    clock: systemClock,
    random: systemRandom,
    metrics: noMetrics,
    groupThreshold: 500,
    largeMergeMs: 1,
    buildsMax: 16,
    divergenceCoolDownMs: 60_000,
    reconcileSampleRows: 0,
    onError: (error) => {
      throw error;
    },
  });
  return {
    services,
    truth,
    state,
    wakeup,
    counted,
    changes,
    async close() {
      await services.post.settled();
      await services.commands.flush();
      await truth.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const EVENTS_A_CALL = 500;
const USERS_AN_EVENT = 10_000;

/** Posts any number of events and demands that each was accepted. */
export async function post({ services }: Embedded, events: readonly object[]): Promise<void> {
  for (let i = 0; i < events.length; i += EVENTS_A_CALL) {
    const results = await services.post.post(events.slice(i, i + EVENTS_A_CALL));
    const refused = results.find((result) => !result.ok);
    if (refused && !refused.ok) throw new Error(`an event was refused: ${refused.error.message}`);
  }
  await services.post.settled();
}

/** A conversation of so many members: u0, u1, … */
export async function makeConversation(embedded: Embedded, conv: string, members: number): Promise<void> {
  const users = Array.from({ length: members }, (_, i) => `u${i}`);
  await post(embedded, [{ type: 'conversation.created', conv, members: users.slice(0, USERS_AN_EVENT) }]);
  for (let i = USERS_AN_EVENT; i < members; i += USERS_AN_EVENT) {
    await post(embedded, [{ type: 'member.joined', conv, users: users.slice(i, i + USERS_AN_EVENT) }]);
  }
}
