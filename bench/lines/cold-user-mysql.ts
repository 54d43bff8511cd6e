import type { Connection } from 'mysql2/promise';
import { inTurn, type Line, type Outcome } from '../line.ts';
import { type BenchMysql, openBenchMysql } from '../mysql.ts';
import { MARIADB } from '../need.ts';

const CONVERSATIONS = 1000;
const FEW = 5;
const MANY = 5000;
/** A capped count stops here, and so does what the tables hold below the head: nobody looks further down. */
const CAP = 1000;

/** ARCHITECTURE, counting: ordinals, no scan. */
export const coldUserMysql: Line = {
  name: 'cold state of a user with 1,000 conversations, MariaDB',
  what: `time of reading all rows of the user from truth, ${MANY.toLocaleString('en')} against ${FEW} unread in each conversation`,
  budget: { kind: 'at most', bound: 1.2, unit: '× the time' },
  needs: [MARIADB],
  run: async () =>
    measured(async ({ truth }) => {
      const read = (user: string, unread: number) => async () => {
        const rows = await truth.rowsOfUser(user);
        const total = rows.reduce((sum, { conversation: c, membership: m }) => sum + c.headOrd - m.floorOrd, 0);
        if (total !== CONVERSATIONS * unread) throw new Error(`a total of ${total}`);
      };
      const { aMs, bMs } = await inTurn(read('many', MANY), read('few', FEW));
      return {
        value: aMs / bMs,
        detail: `${MANY} unread: ${aMs.toFixed(1)} ms · ${FEW} unread: ${bMs.toFixed(1)} ms (medians)`,
      };
    }),
};

export const coldUserCapped: Line = {
  name: 'cold state of a user against capped counts, MariaDB',
  what: `reading all rows of a user, exact numbers and all, against one capped count a conversation in a single statement`,
  budget: { kind: 'at most', bound: 0.1, unit: '× the time' },
  needs: [MARIADB],
  run: async () =>
    measured(async (mysql) => {
      const { truth } = mysql;
      const [connection] = (await mysql.connect(1)) as [Connection];
      const counts = Array.from(
        { length: CONVERSATIONS },
        (_, n) => `
        SELECT 'c${n}', COUNT(*) FROM (
          SELECT 1 FROM messages WHERE conv = 'c${n}' AND seq > 0 AND sender <> 'many' AND countable = 1 AND recalled = 0
          LIMIT ${CAP}) t${n}`,
      ).join(' UNION ALL ');
      const ours = async (): Promise<void> => {
        if ((await truth.rowsOfUser('many')).length !== CONVERSATIONS) throw new Error('rows are missing');
      };
      const capped = async (): Promise<void> => {
        const [rows] = await connection.query(counts);
        if ((rows as unknown[]).length !== CONVERSATIONS) throw new Error('counts are missing');
      };
      const { aMs, bMs } = await inTurn(ours, capped);
      return { value: aMs / bMs, detail: `ours: ${aMs.toFixed(1)} ms · capped counts: ${bMs.toFixed(1)} ms (medians)` };
    }),
};

async function measured(measure: (mysql: BenchMysql) => Promise<Outcome>): Promise<Outcome> {
  const mysql = await openBenchMysql();
  const [connection] = (await mysql.connect(1)) as [Connection];
  const numbers = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${CAP})`;
  const convs = `${numbers} SELECT CONCAT('c', i - 1)`;
  await connection.query(`
    INSERT INTO conversations (conv, head_seq, head_ord, member_count, rev, members_rev, purge_seq, purge_ord, late_count, dissolved, activity)
    ${convs}, ${MANY}, ${MANY}, 3, 1, 1, 0, 0, 0, 0, i FROM n`);
  for (const [user, floor] of [
    ['many', 0],
    ['few', MANY - FEW],
  ]) {
    await connection.query(
      `INSERT INTO memberships ${numbers}
      SELECT ?, CONCAT('c', i - 1), 1, 0, ?, 0, 0, ?, ?, 0, 0, -1, 0, -1, 0, 0, 0, -1, 1 FROM n`,
      [user, floor, floor, floor],
    );
  }
  for (let n = 0; n < CONVERSATIONS; n++) {
    await connection.query(
      `INSERT INTO messages ${numbers}
      SELECT 'c${n}', ${MANY - CAP} + i, CONCAT('m', i), 'sender', ${MANY - CAP} + i, i, 1, 1, 0, 0 FROM n`,
    );
  }
  try {
    return await measure(mysql);
  } finally {
    await mysql.close();
  }
}
