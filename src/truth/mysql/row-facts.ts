import type { RowFacts } from '../../core/facts.ts';
import type { ConvUser } from '../../ports.ts';
import { keyOf } from '../found-facts.ts';
import { CONVERSATION_COLUMNS, MEMBERSHIP_COLUMNS, readConversation } from '../records.ts';
import { readRowFacts, withoutMembership } from '../row-record.ts';
import { Bulk } from './bulk.ts';
import { RESERVED_REV } from './reservations.ts';
import type { Session } from './session.ts';

const FLOOR = 'GREATEST(m.floor_seq, c.purge_seq)';

/**
 * Everything that one row is derived from, in one statement and so of one moment. No part walks over what is unread, and one that has
 * something to walk over is entered only where the last of it lies above the floor: a server cannot begin an index range at a value
 * of another table, so it walks from the start of the conversation. The last of something is the first of its index read backwards,
 * which MySQL sees only where ORDER BY spells out the whole key.
 */
const ROW_FACTS = `
  SELECT ${CONVERSATION_COLUMNS.map((column) => `c.${column}`).join(', ')},
    ${MEMBERSHIP_COLUMNS.map((column) => `m.${column}`).join(', ')},
    CASE WHEN c.purge_seq > m.floor_seq THEN (
      SELECT o.own_ord FROM messages o FORCE INDEX (messages_by_sender)
      WHERE o.conv = m.conv AND o.sender = m.user AND o.seq <= c.purge_seq ORDER BY o.conv DESC, o.sender DESC, o.seq DESC LIMIT 1) END,
    CASE WHEN (
      SELECT a.seq FROM adjustments a FORCE INDEX (PRIMARY) WHERE a.conv = m.conv ORDER BY a.conv DESC, a.seq DESC LIMIT 1
    ) > ${FLOOR} THEN (
      SELECT CAST(SUM(a.delta) AS SIGNED) FROM adjustments a FORCE INDEX (PRIMARY)
      WHERE a.conv = m.conv AND a.seq > ${FLOOR} AND a.sender <> m.user) END,
    CASE WHEN (
      SELECT n.seq FROM mentions n FORCE INDEX (PRIMARY) WHERE n.user = m.user AND n.conv = m.conv ORDER BY n.user DESC, n.conv DESC, n.seq DESC LIMIT 1
    ) > ${FLOOR} THEN (
      SELECT COUNT(*) FROM mentions n FORCE INDEX (PRIMARY)
      WHERE n.user = m.user AND n.conv = m.conv AND n.seq > ${FLOOR} AND n.counted = 1) ELSE 0 END,
    CASE WHEN (
      SELECT x.seq FROM message_marks x FORCE INDEX (marks_naming_all)
      WHERE x.conv = m.conv AND x.names_all = 1 ORDER BY x.conv DESC, x.names_all DESC, x.seq DESC LIMIT 1
    ) > ${FLOOR} THEN (
      SELECT COUNT(*) FROM message_marks x FORCE INDEX (marks_naming_all)
      WHERE x.conv = m.conv AND x.names_all = 1 AND x.seq > ${FLOOR} AND x.sender <> m.user) ELSE 0 END,
    CASE WHEN m.hidden_ord >= 0 THEN EXISTS (
      SELECT 1 FROM adjustments h FORCE INDEX (adjustments_late)
      WHERE h.conv = m.conv AND h.late_no > 0 AND h.late_no > m.hidden_late AND h.seq > m.clear_seq) END,
    CASE WHEN m.away_ord >= 0 THEN EXISTS (
      SELECT 1 FROM adjustments w FORCE INDEX (adjustments_late)
      WHERE w.conv = m.conv AND w.late_no > 0 AND w.late_no > m.away_late AND w.seq > m.clear_seq) END
  FROM memberships m FORCE INDEX (PRIMARY) STRAIGHT_JOIN conversations c FORCE INDEX (PRIMARY) ON c.conv = m.conv`;

const ROWS_OF_PAIRS = new Bulk('(?, ?)', (rows) => `${ROW_FACTS} WHERE (m.user, m.conv) IN (${rows})`);
const ROWS_OF_USER = `${ROW_FACTS} WHERE m.user = ?`;
const CONVERSATIONS = new Bulk(
  '?',
  (rows) => `
    SELECT ${CONVERSATION_COLUMNS.join(', ')} FROM conversations FORCE INDEX (PRIMARY)
    WHERE conv IN (${rows}) AND rev <> ${RESERVED_REV}`,
);

/** As many pairs are one statement, and so of one moment without a transaction, provided that each has a membership. */
export const PAIRS_AT_ONCE = 256;

/** The rows found, in no order: those of pairs without a membership are missing. */
export async function rowsWithMembership(session: Session, pairs: readonly ConvUser[]): Promise<Map<string, RowFacts>> {
  const rows = await ROWS_OF_PAIRS.all(
    session,
    pairs.map(({ user, conv }) => [user, conv]),
  );
  return new Map(
    rows.map((row) => {
      const facts = readRowFacts(row);
      return [keyOf(facts.membership.conv, facts.membership.user), facts];
    }),
  );
}

/** In the order asked; pairs without a conversation are left out. The caller sees to it that all reads belong to one moment. */
export async function rowFactsOfPairs(session: Session, pairs: readonly ConvUser[]): Promise<RowFacts[]> {
  const found = await rowsWithMembership(session, pairs);
  const missing = pairs.filter(({ conv, user }) => !found.has(keyOf(conv, user)));
  if (missing.length > 0) {
    const rows = await CONVERSATIONS.all(
      session,
      missing.map(({ conv }) => [conv]),
    );
    const conversations = new Map(rows.map((row) => [row[0], readConversation(row)]));
    for (const { conv, user } of missing) {
      const conversation = conversations.get(conv);
      if (conversation) found.set(keyOf(conv, user), withoutMembership(conversation, user));
    }
  }
  return inOrder(found, pairs);
}

export function inOrder(found: ReadonlyMap<string, RowFacts>, pairs: readonly ConvUser[]): RowFacts[] {
  return pairs.flatMap(({ conv, user }) => found.get(keyOf(conv, user)) ?? []);
}

export async function rowFactsOfUser(session: Session, user: string): Promise<RowFacts[]> {
  return (await session.all(ROWS_OF_USER, [user])).map(readRowFacts);
}
