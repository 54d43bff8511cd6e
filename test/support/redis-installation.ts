import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { deriveRow } from '../../src/core/row.ts';
import { codeOf } from '../../src/errors.ts';
import { createRelayJob } from '../../src/jobs/relay.ts';
import { noMetrics } from '../../src/metrics.ts';
import type { Change, Truth } from '../../src/ports.ts';
import { createServices, type Services } from '../../src/services/services.ts';
import { systemClock, systemRandom } from '../../src/system.ts';
import { openSqliteTruth } from '../../src/truth/sqlite/open.ts';
import { MemoryFences } from './memory-fences.ts';
import { openRedisNode, type RedisNode } from './redis-node.ts';
import { factsOf } from './truth-model.ts';

export interface InstalledNode extends RedisNode {
  readonly services: Services;
}

/** Services of two nodes over one truth and one state store, and everything that was ever shown to a device. */
export interface RedisInstallation {
  readonly truth: Truth;
  readonly nodes: readonly [InstalledNode, InstalledNode];
  /** All changes that were pushed, by either node. */
  readonly pushed: readonly Change[];
  /** Faults that were no outage. */
  readonly bugs: readonly unknown[];
  /** Runs the relays until both nodes serve and nothing is owed to anybody. */
  settle(): Promise<void>;
  /** Every user's state as the second node reads it is what truth says; no version was ever pushed with two contents. */
  expectTruth(users: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

const GROUP_THRESHOLD = 20;

export async function openRedisInstallation(url: string, clock = systemClock): Promise<RedisInstallation> {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-nodes-'));
  const truth = openSqliteTruth({ file: join(folder, 'truth.sqlite') });
  const fences = new MemoryFences();
  const pushed: Change[] = [];
  const bugs: unknown[] = [];
  const onError = (error: unknown): void => {
    if (codeOf(error) === 'internal') bugs.push(error);
  };
  const epochs = { draw: async () => systemRandom.token(8) };

  async function openNode(): Promise<InstalledNode> {
    const node = await openRedisNode(url, fences, { clock, onError });
    const services = createServices({
      ...node,
      truth,
      epochs,
      clock: systemClock,
      random: systemRandom,
      metrics: noMetrics,
      groupThreshold: GROUP_THRESHOLD,
      largeMergeMs: 5,
      buildsMax: 16,
      divergenceCoolDownMs: 60_000,
      reconcileSampleRows: 3,
      onError,
    });
    node.wakeup.subscribe({ changes: (more) => void pushed.push(...more), large: () => {}, disconnect: () => {} });
    return { ...node, services };
  }

  const nodes = [await openNode(), await openNode()] as const;
  const relays = nodes.map(({ services: { fanOut } }) => {
    const options = { intervalMs: 20, olderThanMs: 200 };
    return createRelayJob({ truth, fanOut, clock: systemClock, metrics: noMetrics, onError, ...options });
  });
  for (const relay of relays) relay.start();
  return {
    truth,
    nodes,
    pushed,
    bugs,
    async settle() {
      // A node may just have lost its connections, and owe nothing.
      for (const { state } of nodes) await expect.poll(() => state.ping().then(() => 'served', String)).toBe('served');
      for (const { services } of nodes) {
        await services.post.settled();
        await services.commands.flush();
      }
      await expect.poll(async () => (await truth.outbox(0, 1)).length, { message: 'what the relays owe' }).toBe(0);
    },
    async expectTruth(users) {
      for (const user of users) {
        const view = await nodes[1].services.sync.view(user);
        const held = view.rows.filter((row) => row.member).map(factsOf);
        const rows = (await truth.rowsOfUser(user)).map((facts) => deriveRow(facts, GROUP_THRESHOLD));
        const due = rows.filter((row) => row.member).map(factsOf);
        expect(held.toSorted(byConv)).toEqual(due.toSorted(byConv));
      }
      expect(ambiguous(pushed)).toEqual([]);
    },
    async close() {
      for (const relay of relays) await relay.stop();
      for (const node of nodes) {
        await node.services.post.settled();
        await node.services.commands.flush();
        await node.close();
      }
      await truth.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function byConv(a: { conv: string }, b: { conv: string }): number {
  return a.conv < b.conv ? -1 : 1;
}

/** SY1: versions of one epoch of one user that were pushed with different contents. Builds push where their user stands, without rows. */
function ambiguous(pushed: readonly Change[]): string[] {
  const contents = new Map<string, string>();
  const found: string[] = [];
  for (const { user, epoch, syncVersion, rows, total, digest } of pushed) {
    if (rows.length === 0) continue;
    const name = `${user} ${epoch} ${syncVersion}`;
    const content = JSON.stringify([rows, total, digest]);
    if ((contents.get(name) ?? content) !== content) found.push(name);
    contents.set(name, content);
  }
  return found;
}
