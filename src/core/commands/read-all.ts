import { listingOf, type HeldRow } from '../row.ts';
import type { UserAck } from './acks.ts';

export interface ReadAllItems {
  /** With the read_epoch that the row has: a mark that the state does not know of yet is a change since. */
  readonly acks: readonly UserAck[];
  /** Conversations whose row has changed since the version named; they stay. */
  readonly stale: readonly string[];
}

/**
 * AK8: every row that has not changed since `sinceVersion` moves to its head, hidden ones and those cleared away too; a row that changed
 * since stays and is named. Without a version (server API): all rows, present heads.
 */
export function readAllItems(user: string, rows: readonly HeldRow[], sinceVersion: number | null): ReadAllItems {
  const acks: UserAck[] = [];
  const stale: string[] = [];
  for (const row of rows) {
    if (!row.member) continue;
    if (sinceVersion === null) acks.push({ user, item: { conv: row.conv, seq: Number.MAX_SAFE_INTEGER } });
    else if (row.version <= sinceVersion) {
      if (isRead(row)) continue;
      acks.push({ user, item: { conv: row.conv, seq: row.headSeq, read_epoch: row.readEpoch } });
    } else if (listingOf(row) !== 'gone') stale.push(row.conv);
  }
  return { acks, stale };
}

/** Nothing of it would move, and its read_epoch would keep off a mark that the state does not know of: so it costs nothing to leave it out. */
function isRead({ readSeq, headSeq, marked }: HeldRow): boolean {
  return readSeq >= headSeq && !marked;
}
