import type { ConvUser, CountedMessages } from '../../ports.ts';
import { type Connection, TEXT } from './connection.ts';

/** Each message above the floor stands in exactly one column: own first, then non-countable, then recalled, else counted. */
const TALLY = `
  SELECT
    count(*) FILTER (WHERE m.sender = ?),
    count(*) FILTER (WHERE m.sender <> ? AND m.countable = 0),
    count(*) FILTER (WHERE m.sender <> ? AND m.countable = 1 AND m.recalled = 1),
    count(*) FILTER (WHERE m.sender <> ? AND m.countable = 1 AND m.recalled = 0),
    count(*) FILTER (WHERE m.sender <> ? AND m.countable = 1 AND m.recalled = 0 AND (m.mention_all = 1 OR EXISTS (
      SELECT 1 FROM mentions n WHERE n.user = ? AND n.conv = m.conv AND n.seq = m.seq)))
  FROM messages m WHERE m.conv = ? AND m.seq > ?`;
const FIRST_COUNTED = `
  SELECT seq FROM messages
  WHERE conv = ${TEXT} AND seq > ? AND sender <> ? AND countable = 1 AND recalled = 0 ORDER BY seq LIMIT 20`;

/** CN1, CN2 by their definition: a walk over the message rows above the floor. Its cost is what is unread. */
export function countMessages(db: Connection, { conv, user }: ConvUser, floorSeq: number): CountedMessages {
  const sums = db.get(TALLY, user, user, user, user, user, user, conv, floorSeq) ?? [];
  const [own = 0, nonCountable = 0, recalled = 0, unread = 0, mentions = 0] = sums as number[];
  const counted = db.all(FIRST_COUNTED, conv, floorSeq, user).map(([seq]) => seq as number);
  return { unread, mentions, counted, leftOut: { own, nonCountable, recalled } };
}
