import type { DerivedRow } from '../src/core/row.ts';
import type { StateStore } from '../src/ports.ts';

/** A row as a user has many: some unread, read up to a place not far below the head. */
export function usualRow(conv: string, i = 0): DerivedRow {
  const numbers = { convRev: 200 + i, memberRev: 30, unread: 3, mentions: 0, readSeq: 180 + i, readEpoch: 0 };
  const flags = { member: true, muted: i % 10 === 0, marked: false, hidden: false, away: false, large: false };
  const places = { headSeq: 200 + i, floorSeq: 180 + i, activity: 1_700_000_000_000_000 + i, othersEver: 150 };
  return { conv, ...numbers, ...flags, ...places };
}

export async function buildState(state: StateStore, user: string, rows: readonly DerivedRow[]): Promise<void> {
  await state.beginBuild(user, 'token', 0);
  const { stored } = await state.completeBuild(user, 'token', 'abcd1234', rows);
  if (!stored) throw new Error('a state could not be built');
}
