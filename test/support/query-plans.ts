import { createConnection } from 'mysql2/promise';
import type { Values } from '../../src/truth/records.ts';
import { parameter } from '../../src/truth/mysql/session.ts';

/** Tables of a row a partition at most, and the outbox, which is its own order: the oldest first is its first rows. */
const WALKED = /^(fences|installation|migrations|outbox|<.*>)$/;

/**
 * How the server at `url` would carry out the statements with the values given: how many could be asked about, and each step of theirs
 * that walks over a whole table or sorts.
 */
export async function explained(
  url: string,
  statements: ReadonlyMap<string, Values>,
): Promise<{ planned: number; walks: string[] }> {
  const connection = await createConnection(url);
  const planned = [...statements].filter(([sql]) => /^\s*(SELECT|UPDATE|DELETE)\b/.test(sql));
  const walks: string[] = [];
  for (const [sql, values] of planned) {
    const [rows] = await connection.execute(`EXPLAIN FORMAT=TRADITIONAL ${sql}`, values.map(parameter));
    for (const step of rows as { table: string | null; type: string | null; Extra: string | null }[]) {
      const { table, type, Extra: extra } = step;
      const isWalk = /^(ALL|index)$/.test(type ?? '') || /filesort|temporary/.test(extra ?? '');
      if (isWalk && !WALKED.test(table ?? '<>')) walks.push(`${table} ${type} ${extra ?? ''} in ${sql}`);
    }
  }
  await connection.end();
  return { planned: planned.length, walks };
}
