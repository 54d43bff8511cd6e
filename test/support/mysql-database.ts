import { createConnection } from 'mysql2/promise';
import { noMetrics } from '../../src/metrics.ts';
import { systemClock, systemRandom } from '../../src/system.ts';
import { type MysqlTruthOptions, openMysqlTruth } from '../../src/truth/mysql/open.ts';
import type { MysqlTruth } from '../../src/truth/mysql/truth.ts';

export interface Database {
  readonly name: string;
  readonly url: string;
  drop(): Promise<void>;
}

/** An empty database of its own on the server at `serverUrl` (mysql://root@127.0.0.1:PORT/). */
export async function freshDatabase(serverUrl: string): Promise<Database> {
  const name = `tidemark_${systemRandom.token(12)}`;
  await say(serverUrl, `CREATE DATABASE ${name}`);
  return {
    name,
    url: new URL(name, serverUrl).href,
    drop: () => say(serverUrl, `DROP DATABASE IF EXISTS ${name}`),
  };
}

/** One statement on a connection of its own. */
export async function say(url: string, sql: string): Promise<void> {
  const connection = await createConnection(url);
  await connection.query(sql);
  await connection.end();
}

export async function openTruthAt(url: string, options: Partial<MysqlTruthOptions> = {}): Promise<MysqlTruth> {
  return openMysqlTruth({ url, clock: systemClock, random: systemRandom, metrics: noMetrics, ...options });
}
