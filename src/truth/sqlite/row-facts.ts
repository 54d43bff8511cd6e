import type { RowFacts } from '../../core/facts.ts';
import type { ConvUser } from '../../ports.ts';
import { CONVERSATION_COLUMNS, MEMBERSHIP_COLUMNS, readConversation } from '../records.ts';
import { readRowFacts, withoutMembership } from '../row-record.ts';
import { type Connection, TEXT } from './connection.ts';

/**
 * Everything that one row is derived from, by index seeks alone: no statement walks over what is unread. What is walked is rare by
 * nature: messages recalled or inserted late, mentions, messages that name all.
 */
const ROW_FACTS = `
  SELECT ${CONVERSATION_COLUMNS.map((column) => `c.${column}`).join(', ')},
    ${MEMBERSHIP_COLUMNS.map((column) => `m.${column}`).join(', ')},
    CASE WHEN c.purge_seq > m.floor_seq THEN (
      SELECT o.own_ord FROM messages o INDEXED BY messages_by_sender
      WHERE o.conv = m.conv AND o.sender = m.user AND o.seq <= c.purge_seq ORDER BY o.seq DESC LIMIT 1) END,
    (SELECT sum(a.delta) FROM adjustments a
      WHERE a.conv = m.conv AND a.seq > max(m.floor_seq, c.purge_seq) AND a.sender <> m.user),
    (SELECT count(*) FROM mentions n
      WHERE n.user = m.user AND n.conv = m.conv AND n.seq > max(m.floor_seq, c.purge_seq) AND n.counted = 1),
    (SELECT count(*) FROM messages x INDEXED BY messages_naming_all
      WHERE x.conv = m.conv AND x.seq > max(m.floor_seq, c.purge_seq) AND x.sender <> m.user
        AND x.mention_all = 1 AND x.countable = 1 AND x.recalled = 0),
    CASE WHEN m.hidden_ord >= 0 THEN EXISTS (
      SELECT 1 FROM adjustments h INDEXED BY adjustments_late WHERE h.conv = m.conv AND h.late_no > 0 AND h.late_no > m.hidden_late AND h.seq > m.clear_seq) END,
    CASE WHEN m.away_ord >= 0 THEN EXISTS (
      SELECT 1 FROM adjustments w INDEXED BY adjustments_late WHERE w.conv = m.conv AND w.late_no > 0 AND w.late_no > m.away_late AND w.seq > m.clear_seq) END
  FROM memberships m CROSS JOIN conversations c ON c.conv = m.conv
  WHERE m.user = ${TEXT}`;

const ROW_OF_PAIR = `${ROW_FACTS} AND m.conv = ${TEXT}`;
const ROWS_OF_USER = `${ROW_FACTS} ORDER BY m.conv`;
const CONVERSATION = `SELECT ${CONVERSATION_COLUMNS.join(', ')} FROM conversations WHERE conv = ?`;

/** In the order asked; pairs without a conversation are left out. The caller sees to it that all reads belong to one moment. */
export function rowFactsOfPairs(db: Connection, pairs: readonly ConvUser[]): RowFacts[] {
  const rows: RowFacts[] = [];
  for (const { conv, user } of pairs) {
    const row = db.get(ROW_OF_PAIR, user, conv);
    if (row !== undefined) {
      rows.push(readRowFacts(row));
      continue;
    }
    const alone = db.get(CONVERSATION, conv);
    if (alone !== undefined) rows.push(withoutMembership(readConversation(alone), user));
  }
  return rows;
}

export function rowFactsOfUser(db: Connection, user: string): RowFacts[] {
  return db.all(ROWS_OF_USER, user).map(readRowFacts);
}
