import { createConnection } from 'mysql2/promise';
import { noMetrics } from '../../src/metrics.ts';
import { systemRandom } from '../../src/system.ts';
import { type MysqlTruthOptions, openMysqlTruth } from '../../src/truth/mysql/open.ts';
import type { MysqlTruth } from '../../src/truth/mysql/truth.ts';
import { slowClock } from './slow-clock.ts';

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

/** Its patience with the server is that of a node whose time passes more slowly: a busy machine is no server that does not answer. */
const SLOWER = 10;

export async function openTruthAt(url: string, options: Partial<MysqlTruthOptions> = {}): Promise<MysqlTruth> {
  return openMysqlTruth({ url, clock: slowClock(SLOWER), random: systemRandom, metrics: noMetrics, ...options });
}
