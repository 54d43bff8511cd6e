/** The services over truth on a MariaDB of the bench's own, without sockets or HTTP, and plain connections for what they are compared with. */
import { type Connection, createConnection } from 'mysql2/promise';
import { startMariadb } from '../loadtest/mariadb.ts';
import { noMetrics } from '../src/metrics.ts';
import { createServices, type Services } from '../src/services/services.ts';
import { createMemoryEpochs } from '../src/state/memory-epochs.ts';
import { createMemoryState } from '../src/state/memory.ts';
import { createMemoryWakeup } from '../src/state/memory-wakeup.ts';
import { systemClock, systemRandom } from '../src/system.ts';
import { openMysqlTruth } from '../src/truth/mysql/open.ts';
import type { MysqlTruth } from '../src/truth/mysql/truth.ts';

export interface BenchMysql {
  readonly services: Services;
  readonly truth: MysqlTruth;
  /** As many connections as asked for, to the same database. */
  connect(count: number): Promise<Connection[]>;
  close(): Promise<void>;
}

const DATABASE = 'tidemark';

export async function openBenchMysql(): Promise<BenchMysql> {
  const server = await startMariadb();
  const admin = await createConnection(server.url);
  await admin.query(`CREATE DATABASE ${DATABASE}`);
  await admin.end();
  const url = new URL(DATABASE, server.url).href;
  const truth = await openMysqlTruth({ url, clock: systemClock, random: systemRandom, metrics: noMetrics });
  const services = createServices({
    truth,
    // In memory, so that truth is what is measured; with the outbox that a state outside needs.
    state: Object.assign(createMemoryState({ clock: systemClock, usersMax: 1_000_000 }), { outlivesProcess: true }),
    epochs: createMemoryEpochs({ random: systemRandom }),
    wakeup: createMemoryWakeup(),
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
  const connections: Connection[] = [];
  return {
    services,
    truth,
    async connect(count) {
      const made = await Promise.all(Array.from({ length: count }, async () => createConnection(url)));
      connections.push(...made);
      return made;
    },
    async close() {
      await services.post.settled();
      await services.commands.flush();
      await truth.close();
      for (const connection of connections) await connection.end();
      await server.stop();
    },
  };
}
