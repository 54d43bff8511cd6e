// One whole version as this tab shows it, and what lies between it and the next one.
import { formatDigest } from '../../protocol/digest.ts';
import { noSums, sumsOf, withoutRow, withRow } from '../../protocol/row-sums.ts';
import type { Row } from '../../protocol/server-frames.ts';

type Rows = ReadonlyMap<string, Row>;

export interface Standing {
  readonly epoch: string;
  readonly syncVersion: number;
  readonly rows: Rows;
  readonly sums: typeof noSums;
}

export const NOTHING: Standing = { epoch: '', syncVersion: 0, rows: new Map(), sums: noSums };

export function standingOf(epoch: string, syncVersion: number, rows: Rows): Standing {
  return { epoch, syncVersion, rows, sums: sumsOf(rows.values()) };
}

/** The fields that frames have of it. */
export function sumsIn({ epoch, syncVersion, sums }: Standing) {
  const { total, badge, mentions, digest } = sums;
  return { epoch, sync_version: syncVersion, total, badge, mentions, digest: formatDigest(digest) };
}

/** The next one of the same epoch; `changed`: rows that are other objects now, and tombstones for those that are gone. */
export function nextStanding(before: Standing, syncVersion: number, rows: Rows) {
  const changed: Row[] = [];
  let { sums } = before;
  for (const row of rows.values()) {
    const old = before.rows.get(row.conv);
    if (old === row) continue;
    if (old !== undefined) sums = withoutRow(sums, old);
    sums = withRow(sums, row);
    changed.push(row);
  }
  for (const old of before.rows.values()) {
    if (rows.has(old.conv)) continue;
    sums = withoutRow(sums, old);
    changed.push({ ...old, version: syncVersion, unread: 0, mentions: 0, gone: true });
  }
  const standing: Standing = { epoch: before.epoch, syncVersion, rows, sums };
  return { standing, changed };
}
