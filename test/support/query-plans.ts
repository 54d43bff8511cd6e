import { createConnection } from 'mysql2/promise';
import { openTruthAt } from './mysql-database.ts';
import { adjustmentFacts, conversationFacts, membershipFacts, messageFacts, store } from './truth-facts.ts';
import type { Values } from '../../src/truth/records.ts';
import { parameter } from '../../src/truth/mysql/session.ts';

/** Tables of a row a partition at most, and the outbox, which is its own order: the oldest first is its first rows. */
const WALKED = /^(fences|installation|migrations|outbox|<.*>)$/;

/** Rows of each table, so that a plan is one for a table that is worth an index. */
const ROWS = 4000;

/**
 * How the server at `url` would carry out the statements with the values given: how many could be asked about, and each step of theirs
 * that walks over a whole table or sorts.
 */
export async function explained(
  url: string,
  statements: ReadonlyMap<string, Values>,
): Promise<{ planned: number; walks: string[] }> {
  await fill(url);
  const connection = await createConnection(url);
  await connection.query(`ANALYZE TABLE ${FILLED.join(', ')}`);
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

const FILLED = [
  'conversations',
  'messages',
  'message_marks',
  'memberships',
  'adjustments',
  'mentions',
  'parked',
  'events',
];

async function fill(url: string): Promise<void> {
  const truth = await openTruthAt(url);
  const numbers = Array.from({ length: ROWS }, (_, n) => n + 1);
  const conv = (n: number): string => `filling-${n % 200}`;
  await store(truth, {
    conversations: numbers.map((n) => conversationFacts({ conv: `filling-${n}` })),
    memberships: numbers.map((n) => membershipFacts({ conv: conv(n), user: `filling-${n}` })),
    newMessages: numbers.map((n) => messageFacts({ conv: conv(n), seq: n, mentionAll: true })),
    adjustments: numbers.map((n) => adjustmentFacts({ conv: conv(n), seq: n, lateNo: n % 7 })),
    mentions: numbers.map((n) => ({ conv: conv(n), seq: n, sender: 'x', users: [`filling-${n % 50}`], all: false })),
    parked: numbers.map((n) => ({ conv: conv(n), messageId: `m${n}`, ...NOTHING_PARKED })),
    events: numbers.map((n) => ({ eventId: `filling-${n}`, fingerprint: 'f', seq: 0, acceptedAt: n })),
  });
  await truth.close();
}

const NOTHING_PARKED = { recalled: true, mentions: null, mentionAll: null, uncountable: false };
