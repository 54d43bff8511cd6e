// [CN3] Sums over the listed rows of a user, kept in step with single rows.
import { addDigest, isListed, rowDigest, subtractDigest } from './digest.ts';
import type { Row } from './server-frames.ts';

/** `digest` as a number, 0 … 2^48-1. */
export type RowSums = { total: number; badge: number; mentions: number; digest: number };

export const noSums: RowSums = { total: 0, badge: 0, mentions: 0, digest: 0 };

/** `before`: of those that came before them. */
export function sumsOf(rows: Iterable<Row>, before = noSums): RowSums {
  let sums = before;
  for (const row of rows) sums = withRow(sums, row);
  return sums;
}

export function withRow(sums: RowSums, row: Row): RowSums {
  if (!isListed(row)) return sums;
  return {
    total: sums.total + row.unread,
    badge: sums.badge + badgeOf(row),
    mentions: sums.mentions + row.mentions,
    digest: addDigest(sums.digest, rowDigest(row)),
  };
}

export function withoutRow(sums: RowSums, row: Row): RowSums {
  if (!isListed(row)) return sums;
  return {
    total: sums.total - row.unread,
    badge: sums.badge - badgeOf(row),
    mentions: sums.mentions - row.mentions,
    digest: subtractDigest(sums.digest, rowDigest(row)),
  };
}

/** A muted conversation adds its mentions to the badge, any other its unread. */
export function badgeOf(row: Pick<Row, 'muted' | 'mentions' | 'unread'>): number {
  return row.muted === true ? row.mentions : row.unread;
}
