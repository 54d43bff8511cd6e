import type { HeldRow } from '../../src/core/row.ts';

/** A row of a conversation with one unread message, at version 1, unless told otherwise. */
export function heldRow(conv: string, with_: Partial<HeldRow> = {}): HeldRow {
  return {
    conv,
    convRev: 1,
    memberRev: 1,
    member: true,
    unread: 1,
    mentions: 0,
    readSeq: 0,
    readEpoch: 0,
    floorSeq: 0,
    headSeq: 1,
    muted: false,
    marked: false,
    hidden: false,
    away: false,
    large: false,
    othersEver: 1,
    activity: 1,
    version: 1,
    ...with_,
  };
}

/** `count` rows c1 … cn, the last one the newest. */
export function heldRows(count: number, with_: (n: number) => Partial<HeldRow> = () => ({})): HeldRow[] {
  return Array.from({ length: count }, (_, i) => heldRow(`c${i + 1}`, { activity: i + 1, ...with_(i + 1) }));
}
