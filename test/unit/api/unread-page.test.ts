import { describe, expect, test } from 'vitest';
import { unreadPage } from '../../../src/api/unread-page.ts';
import type { HeldRow } from '../../../src/core/row.ts';
import type { StateView } from '../../../src/ports.ts';

function row(conv: string, activity: number, change: Partial<HeldRow> = {}): HeldRow {
  return {
    conv,
    activity,
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
    version: 1,
    ...change,
  };
}

function viewOf(...rows: HeldRow[]): StateView {
  const totals = { total: 12, badge: 11, mentions: 3, digest: '0123456789ab' };
  return { user: 'u1', epoch: 'e1', syncVersion: 9, tombstoneFloor: 0, largeBehind: [], large: [], rows, ...totals };
}

function allPages(view: StateView, limit: number, unreadOnly = false): string[][] {
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = unreadPage(view, { cursor, limit, unreadOnly });
    pages.push(page.rows.map(({ conv }) => conv));
    cursor = page.next;
  } while (cursor !== undefined);
  return pages;
}

describe('[DT7] pages of the unread list', () => {
  const view = viewOf(row('a', 5), row('z:é', 7), row('b', 7), row('hidden', 9, { hidden: true }), row('c', 1));

  test('newest first, conversations of one moment by name, each once', () => {
    expect(allPages(view, 100)).toEqual([['b', 'z:é', 'a', 'c']]);
    expect(allPages(view, 2)).toEqual([
      ['b', 'z:é'],
      ['a', 'c'],
    ]);
    expect(allPages(view, 1)).toEqual([['b'], ['z:é'], ['a'], ['c']]);
    expect(allPages(view, 3)).toEqual([['b', 'z:é', 'a'], ['c']]);
  });

  test('what is hidden, left or cleared away is not listed', () => {
    const gone = viewOf(row('a', 1, { hidden: true }), row('b', 2, { member: false }), row('c', 3, { away: true }));
    expect(allPages(gone, 10)).toEqual([[]]);
  });

  test('unread only: what has unread or is marked, with the totals of all', () => {
    const mixed = viewOf(row('a', 1, { unread: 0 }), row('b', 2, { unread: 0, marked: true }), row('c', 3));
    expect(allPages(mixed, 10, true)).toEqual([['c', 'b']]);
    expect(unreadPage(mixed, { cursor: undefined, limit: 10, unreadOnly: true })).toMatchObject({
      epoch: 'e1',
      sync_version: 9,
      total: 12,
      badge: 11,
      mentions: 3,
      digest: '0123456789ab',
    });
  });

  test('a conversation that moves to the top between two pages neither doubles nor hides another', () => {
    const { next } = unreadPage(view, { cursor: undefined, limit: 2, unreadOnly: false });
    const moved = viewOf(row('c', 20), ...view.rows.filter(({ conv }) => conv !== 'c'));
    const second = unreadPage(moved, { cursor: next, limit: 2, unreadOnly: false });
    expect(second.rows.map(({ conv }) => conv)).toEqual(['a']);
  });

  test('a cursor that was never answered is refused by name', () => {
    for (const cursor of [
      'x',
      'MQ',
      Buffer.from(':c').toString('base64url'),
      Buffer.from('-1:c').toString('base64url'),
    ]) {
      expect(() => unreadPage(view, { cursor, limit: 1, unreadOnly: false })).toThrow(
        expect.objectContaining({ code: 'invalid_field', field: 'cursor' }),
      );
    }
  });
});
