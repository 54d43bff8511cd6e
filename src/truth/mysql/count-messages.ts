import type { ConvUser, CountedMessages } from '../../ports.ts';
import type { Session } from './session.ts';

/** Each message above the floor stands in exactly one column: own first, then non-countable, then recalled, else counted. */
const TALLY = `
  SELECT
    COUNT(CASE WHEN m.sender = ? THEN 1 END),
    COUNT(CASE WHEN m.sender <> ? AND m.countable = 0 THEN 1 END),
    COUNT(CASE WHEN m.sender <> ? AND m.countable = 1 AND m.recalled = 1 THEN 1 END),
    COUNT(CASE WHEN m.sender <> ? AND m.countable = 1 AND m.recalled = 0 THEN 1 END),
    COUNT(CASE WHEN m.sender <> ? AND m.countable = 1 AND m.recalled = 0 AND (m.mention_all = 1 OR EXISTS (
      SELECT 1 FROM mentions n FORCE INDEX (PRIMARY) WHERE n.user = ? AND n.conv = m.conv AND n.seq = m.seq)) THEN 1 END)
  FROM messages m FORCE INDEX (PRIMARY) WHERE m.conv = ? AND m.seq > ?`;
const FIRST_COUNTED = `
  SELECT seq FROM messages FORCE INDEX (PRIMARY)
  WHERE conv = ? AND seq > ? AND sender <> ? AND countable = 1 AND recalled = 0 ORDER BY seq LIMIT 20`;

/** CN1, CN2 by their definition: a walk over the message rows above the floor. Its cost is what is unread. Of one moment by the caller. */
export async function countMessages(
  session: Session,
  { conv, user }: ConvUser,
  floorSeq: number,
): Promise<CountedMessages> {
  const [sums = []] = await session.all(TALLY, [user, user, user, user, user, user, conv, floorSeq]);
  const [own = 0, nonCountable = 0, recalled = 0, unread = 0, mentions = 0] = sums as number[];
  const counted = (await session.all(FIRST_COUNTED, [conv, floorSeq, user])).map(([seq]) => seq as number);
  return { unread, mentions, counted, leftOut: { own, nonCountable, recalled } };
}
