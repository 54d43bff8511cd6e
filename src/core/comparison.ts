/** What the state holds of a user beside what truth says: one judgement for whoever compares the two. */
import { addDigest, formatDigest, isListed, rowDigest } from '../../protocol/index.ts';
import type { Totals } from './change-set.ts';
import { type DerivedRow, isCapped, listingOf, looksSame, reportedUnread, toWireRow } from './row.ts';

/** `behind`: the state lacks a change that is on its way, or will be asked for. `ahead`: it knows one that truth does not. */
export type Judgement = 'same' | 'behind' | 'ahead' | 'wrong';

/** A row is called wrong only at equal revs: one that lags is on its way (ARCHITECTURE, truth and state). */
export function judge(held: DerivedRow | undefined, due: DerivedRow | undefined): Judgement {
  if (due === undefined) return held === undefined || listingOf(held) === 'gone' ? 'same' : 'wrong';
  if (held === undefined || held.convRev < due.convRev || held.memberRev < due.memberRev) return 'behind';
  if (held.convRev !== due.convRev || held.memberRev !== due.memberRev) return 'ahead';
  return looksSame(held, due) ? 'same' : 'wrong';
}

/** CN3, SY8: the sums that these rows have. */
export function totalsOf(rows: Iterable<DerivedRow>): Totals {
  let [total, badge, mentions, digest] = [0, 0, 0, 0];
  for (const row of rows) {
    const wire = toWireRow({ ...row, version: 0 });
    if (!isListed(wire)) continue;
    total += wire.unread;
    badge += row.muted ? wire.mentions : wire.unread;
    mentions += wire.mentions;
    digest = addDigest(digest, rowDigest(wire));
  }
  return { total, badge, mentions, digest: formatDigest(digest) };
}

export function sameTotals(a: Totals, b: Totals): boolean {
  return a.total === b.total && a.badge === b.badge && a.mentions === b.mentions && a.digest === b.digest;
}

/** What a row says, under the names that it has on the wire. */
export function factsOfRow(row: DerivedRow) {
  return {
    conv_rev: row.convRev,
    member_rev: row.memberRev,
    listing: listingOf(row),
    unread: reportedUnread(row),
    capped: isCapped(row),
    mentions: row.mentions,
    read_seq: row.readSeq,
    read_epoch: row.readEpoch,
    floor_seq: row.floorSeq,
    head_seq: row.headSeq,
    muted: row.muted,
    marked: row.marked,
  };
}

/** The fields in which two rows differ; all that it has where there is only one. */
export function differingFields(held: DerivedRow | undefined, due: DerivedRow | undefined): string[] {
  const one = held ?? due;
  if (one === undefined) return [];
  const names = Object.keys(factsOfRow(one)) as (keyof ReturnType<typeof factsOfRow>)[];
  if (held === undefined || due === undefined) return names;
  const [a, b] = [factsOfRow(held), factsOfRow(due)];
  return names.filter((name) => a[name] !== b[name]);
}
