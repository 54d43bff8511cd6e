import { onTestFinished } from 'vitest';
import type { Values } from '../../src/truth/records.ts';
import type { MysqlTruth } from '../../src/truth/mysql/truth.ts';
import { freshDatabase, openTruthAt } from './mysql-database.ts';
import { type NaiveChat, openNaiveChat } from './naive-chat.ts';
import { openServiceBench, type ServiceBench } from './service-bench.ts';

export interface SeedBench {
  readonly naive: NaiveChat;
  /** The product's services on truth in the same database. */
  readonly ours: ServiceBench;
  readonly truth: MysqlTruth;
  /** Statements of truth since they were last taken out, each with the rows it answered or changed. */
  readonly statements: { sql: string; rows: number; values: Values }[];
}

/** Both ways side by side in one fresh database. */
export async function openSeedBench(server: string): Promise<SeedBench> {
  const database = await freshDatabase(server);
  const statements: SeedBench['statements'] = [];
  const truth = await openTruthAt(database.url, {
    onStatement: (sql, rows, values) => void statements.push({ sql, rows, values }),
  });
  const naive = await openNaiveChat(database.url);
  onTestFinished(async () => {
    await naive.close();
    await truth.close();
    await database.drop();
  });
  return { naive, ours: openServiceBench({ truth: () => truth }), truth, statements };
}
