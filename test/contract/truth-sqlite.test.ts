import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import { openSqliteTruth } from '../../src/truth/sqlite/open.ts';
import { truthContract } from './truth.ts';

const folder = mkdtempSync(join(tmpdir(), 'tidemark-truth-'));
const statements = new Set<string>();
let opened = 0;

truthContract('SQLite', async () => {
  opened += 1;
  return openSqliteTruth({ file: join(folder, `${opened}.db`), onStatement: (sql) => statements.add(sql) });
});

test('no statement of the suite walks over a whole table or sorts', () => {
  // The outbox is its own order: the oldest first is its first rows.
  const planned = [...statements].filter(
    (sql) => /^\s*(SELECT|INSERT|UPDATE|DELETE)\b/.test(sql) && !/FROM outbox/.test(sql),
  );
  expect(planned.length).toBeGreaterThan(30);
  const db = new DatabaseSync(join(folder, '1.db'), { readOnly: true });
  const steps = planned.flatMap((sql) =>
    db
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => `${String(detail)} in ${sql}`),
  );
  db.close();
  expect(steps.length).toBeGreaterThan(30);
  expect(steps.filter((step) => /^SCAN (?!CONSTANT|sqlite_schema)|TEMP B-TREE/.test(step))).toEqual([]);
});

afterAll(() => rmSync(folder, { recursive: true }));
