import { afterAll, expect, test } from 'vitest';
import type { Values } from '../../src/truth/records.ts';
import { type Database, freshDatabase, openTruthAt } from '../support/mysql-database.ts';
import { explained } from '../support/query-plans.ts';
import { realMysql } from '../support/real-mysql.ts';
import { truthContract } from './truth.ts';

const server = await realMysql();

if ('reason' in server) {
  test('truth contract: MySQL', (context) => context.skip(server.reason));
} else {
  const databases: Database[] = [];
  const statements = new Map<string, Values>();

  truthContract('MySQL', async () => {
    const database = await freshDatabase(server.url);
    databases.push(database);
    return openTruthAt(database.url, { onStatement: (sql, _rows, values) => statements.set(sql, values) });
  });

  test('no statement of the suite walks over a whole table or sorts', async () => {
    const { planned, walks } = await explained(databases[0]!.url, statements);
    expect(planned).toBeGreaterThan(30);
    expect(walks).toEqual([]);
  });

  afterAll(async () => {
    for (const database of databases) await database.drop();
  });
}
