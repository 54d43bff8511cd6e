import { describe, expect, test } from 'vitest';
import { differingFields, judge, sameTotals, totalsOf } from '../../../src/core/comparison.ts';
import { buildUserState, headOf } from '../../../src/core/user-state.ts';
import { heldRow, heldRows } from '../../support/held-rows.ts';

describe('judge', () => {
  const due = heldRow('c', { convRev: 5, memberRev: 3, unread: 2 });

  test('[CN1] at equal revs a row is the same or wrong', () => {
    expect(judge({ ...due, activity: 9 }, due)).toBe('same');
    for (const with_ of [{ unread: 41 }, { muted: true }, { readSeq: 1 }, { hidden: true }, { member: false }]) {
      expect(judge({ ...due, ...with_ }, due)).toBe('wrong');
    }
  });

  test('at a lower rev, or not held, it is behind, whatever it says; at a higher one ahead', () => {
    for (const revs of [{ convRev: 4 }, { memberRev: 2 }, { convRev: 4, memberRev: 9 }, { convRev: 9, memberRev: 2 }]) {
      expect(judge({ ...due, ...revs, unread: 41 }, due)).toBe('behind');
    }
    expect(judge(undefined, due)).toBe('behind');
    for (const revs of [{ convRev: 6 }, { memberRev: 4 }]) expect(judge({ ...due, ...revs }, due)).toBe('ahead');
  });

  test('of what truth does not know only the memory that it is gone is right', () => {
    expect(judge(due, undefined)).toBe('wrong');
    expect(judge({ ...due, member: false }, undefined)).toBe('same');
    expect(judge({ ...due, away: true }, undefined)).toBe('same');
  });
});

test('[CN3][SY8] the sums of rows are those of a state that is built from them', () => {
  const rows = heldRows(40, (n) => ({
    unread: n * 50,
    mentions: n % 4,
    muted: n % 3 === 0,
    hidden: n % 5 === 0,
    away: n % 7 === 0,
    member: n % 11 !== 0,
    large: n % 2 === 0,
    marked: n % 13 === 0,
  }));
  const head = headOf(buildUserState('ann', 'e', rows));
  expect(totalsOf(rows)).toEqual({
    total: head.total,
    badge: head.badge,
    mentions: head.mentions,
    digest: head.digest,
  });
  expect(sameTotals(head, totalsOf(rows))).toBe(true);
  for (const with_ of [{ total: 0 }, { badge: 0 }, { mentions: 99 }, { digest: '0'.repeat(12) }]) {
    expect(sameTotals({ ...head, ...with_ }, totalsOf(rows))).toBe(false);
  }
});

test('the fields that differ are named as on the wire', () => {
  const row = heldRow('c', { unread: 2 });
  expect(differingFields(row, { ...row, activity: 99 })).toEqual([]);
  expect(differingFields({ ...row, unread: 41, floorSeq: 1 }, row)).toEqual(['unread', 'floor_seq']);
  expect(differingFields({ ...row, hidden: true }, row)).toEqual(['listing']);
  expect(differingFields(row, undefined)).toContain('unread');
  expect(differingFields(undefined, undefined)).toEqual([]);
});
