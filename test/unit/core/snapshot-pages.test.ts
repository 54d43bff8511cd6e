import { describe, expect, test } from 'vitest';
import { jsonCodec, limits } from '../../../protocol/index.ts';
import type { Snapshot } from '../../../protocol/index.ts';
import type { HeldRow } from '../../../src/core/row.ts';
import {
  beginSnapshot,
  nextPage,
  pageTokenText,
  readPageToken,
  resumeSnapshot,
} from '../../../src/core/snapshot-pages.ts';
import type { PageToken, SnapshotCourse } from '../../../src/core/snapshot-pages.ts';
import { heldRow, heldRows } from '../../support/held-rows.ts';

const sums = { total: 6, badge: 5, mentions: 2, digest: '0123456789ab' };
const viewOf = (rows: readonly HeldRow[], syncVersion = 9) => ({
  user: 'u1',
  epoch: 'e1',
  syncVersion,
  tombstoneFloor: 1,
  rows,
  ...sums,
});

function allPages(course: SnapshotCourse, maxRows: number): Snapshot[] {
  const frames: Snapshot[] = [];
  for (let rest: SnapshotCourse | null = course; rest !== null;) {
    const page = nextPage(rest, maxRows);
    frames.push(page.frame);
    rest = page.rest;
  }
  return frames;
}
const convsOf = (frames: readonly Snapshot[]): string[][] => frames.map(({ rows }) => rows.map(({ conv }) => conv));
const tokenIn = (frame: Snapshot | undefined): PageToken => readPageToken(frame?.next ?? '') as PageToken;

describe('[SY6] pages', () => {
  test('newest conversations first, in pages of the asked size, numbered from 1', () => {
    const frames = allPages(beginSnapshot(viewOf(heldRows(5))), 2);
    expect(convsOf(frames)).toEqual([['c5', 'c4'], ['c3', 'c2'], ['c1']]);
    expect(frames.map(({ page, end }) => [page, end])).toEqual([
      [1, false],
      [2, false],
      [3, true],
    ]);
  });

  test('every page carries version and sums of the whole; only the last has no token', () => {
    for (const frame of allPages(beginSnapshot(viewOf(heldRows(5))), 2)) {
      expect(frame).toMatchObject({ t: 'snapshot', epoch: 'e1', sync_version: 9, ...sums });
      expect('next' in frame).toBe(!frame.end);
    }
  });

  test('rows of equal activity are in the order of their ids on every node', () => {
    const rows = ['b', 'a', 'c'].map((conv) => heldRow(conv, { activity: 7 }));
    expect(convsOf(allPages(beginSnapshot(viewOf(rows)), 1))).toEqual([['a'], ['b'], ['c']]);
    expect(convsOf(allPages(beginSnapshot(viewOf(rows.toReversed())), 1))).toEqual([['a'], ['b'], ['c']]);
  });

  test('no tombstone and no conversation of others is listed; a hidden one is, as hidden', () => {
    const rows = [
      heldRow('left', { member: false }),
      heldRow('cleared', { away: true }),
      heldRow('hidden', { hidden: true }),
    ];
    const [frame] = allPages(beginSnapshot(viewOf(rows)), 10);
    expect(frame?.rows.map(({ conv, hidden }) => [conv, hidden])).toEqual([['hidden', true]]);
  });

  test('nothing to list: one empty page that is the last', () => {
    expect(allPages(beginSnapshot(viewOf([])), 100)).toEqual([
      { t: 'snapshot', epoch: 'e1', sync_version: 9, page: 1, rows: [], end: true, ...sums },
    ]);
  });

  test.each([0, 1, 200, 201, 2 ** 53 - 1])('an asked size of %i keeps within 1 and the limit', (asked) => {
    const [first] = allPages(beginSnapshot(viewOf(heldRows(450))), asked);
    expect(first?.rows.length).toBe(Math.max(1, Math.min(asked, limits.pageRowsMax)));
  });

  test('a page stays below the size of a frame, whatever the ids are', () => {
    for (const conv of ['\u0001'.repeat(120), '"'.repeat(120), '群'.repeat(40), 'x'.repeat(120)]) {
      const rows = heldRows(400, (n) => ({
        conv: conv + String(n).padStart(8, '0'),
        unread: 2 ** 53 - 1,
        floorSeq: 2 ** 53 - 1,
      }));
      const frames = allPages(beginSnapshot(viewOf(rows)), 2 ** 53 - 1);
      for (const frame of frames)
        expect(Buffer.byteLength(jsonCodec.encode(frame) as string)).toBeLessThan(limits.frameBytesMax);
      expect(convsOf(frames).flat()).toEqual(rows.map((row) => row.conv).toReversed());
    }
  });
});

describe('[SY6] resuming by token', () => {
  test('goes on behind the last row sent, at the version of the token, with the next page number', () => {
    const rows = heldRows(5);
    const [first] = allPages(beginSnapshot(viewOf(rows)), 2);
    const course = resumeSnapshot(viewOf(rows), tokenIn(first)) as SnapshotCourse;
    const rest = allPages(course, 10);
    expect(convsOf(rest)).toEqual([['c3', 'c2', 'c1']]);
    expect(rest[0]).toMatchObject({ page: 2, sync_version: 9, end: true, ...sums });
  });

  test('every page can be the one it broke off at', () => {
    const rows = heldRows(7);
    const frames = allPages(beginSnapshot(viewOf(rows)), 2);
    frames.slice(0, -1).forEach((frame, i) => {
      const course = resumeSnapshot(viewOf(rows), tokenIn(frame)) as SnapshotCourse;
      expect(convsOf(allPages(course, 2))).toEqual(convsOf(frames.slice(i + 1)));
    });
  });

  test('rows changed since are left out, wherever they were; totals stay those of the token', () => {
    const [first] = allPages(beginSnapshot(viewOf(heldRows(5))), 2);
    const changed = heldRows(5, (n) => (n === 1 || n === 5 ? { version: 11, activity: 50 + n } : {}));
    const now = { ...viewOf([...changed, heldRow('new', { version: 12, activity: 99 })], 12), total: 700 };
    const rest = allPages(resumeSnapshot(now, tokenIn(first)) as SnapshotCourse, 10);
    expect(convsOf(rest)).toEqual([['c3', 'c2']]);
    expect(rest[0]).toMatchObject({ sync_version: 9, ...sums });
  });

  test('when nothing is left, an empty last page still ends it', () => {
    const [first] = allPages(beginSnapshot(viewOf(heldRows(3))), 2);
    const now = viewOf(
      heldRows(3, () => ({ version: 10 })),
      10,
    );
    const rest = allPages(resumeSnapshot(now, tokenIn(first)) as SnapshotCourse, 2);
    expect(rest.map(({ rows, end, page }) => [rows.length, end, page])).toEqual([[0, true, 2]]);
  });

  test('anew for another user, though epoch and version may be the same', () => {
    const [first] = allPages(beginSnapshot(viewOf(heldRows(3))), 1);
    expect(resumeSnapshot({ ...viewOf(heldRows(3)), user: 'u2' }, tokenIn(first))).toBeNull();
  });

  test('anew for another epoch, a version that is not there yet, and tombstones that are no longer known', () => {
    const [first] = allPages(beginSnapshot(viewOf(heldRows(3))), 1);
    const token = tokenIn(first);
    expect(resumeSnapshot({ ...viewOf(heldRows(3)), epoch: 'e2' }, token)).toBeNull();
    expect(resumeSnapshot(viewOf(heldRows(3), 8), token)).toBeNull();
    expect(resumeSnapshot({ ...viewOf(heldRows(3), 20), tombstoneFloor: 10 }, token)).toBeNull();
    expect(resumeSnapshot({ ...viewOf(heldRows(3), 20), tombstoneFloor: 9 }, token)).not.toBeNull();
  });
});

describe('page tokens', () => {
  const head = { epoch: 'e1', syncVersion: 9, ...sums };

  test.each(['c1', 'a.b..c', '.', '群聊', 'x'.repeat(128), '1.e1.9'])(
    'a token says what it was made of (%s)',
    (conv) => {
      const token = { user: 'u.1', head, page: 7, after: { activity: 1_700_000_000_000, conv } };
      expect(readPageToken(pageTokenText(token))).toEqual(token);
    },
  );

  test('a token with the longest parts fits into the frame that carries it', () => {
    const n = 2 ** 53 - 1;
    const long = { epoch: 'abcdefgh', syncVersion: n, total: n, badge: n, mentions: n, digest: sums.digest };
    const name = '群'.repeat(42);
    const text = pageTokenText({ user: name, head: long, page: n, after: { activity: n, conv: name } });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limits.pageTokenBytesMax);
  });

  test('anything else is no token', () => {
    const good = pageTokenText({ user: 'u', head, page: 2, after: { activity: 5, conv: 'c' } }).split('.');
    const numbers = [2, 3, 4, 5, 7, 8, 9];
    const badNumbers = ['', '-1', 'x', ' 1', '1e3', '0x10', '9007199254740992', '99999999999999999'];
    const broken = [
      ...numbers.flatMap((place) => badNumbers.map((part) => good.with(place, part))),
      good.with(0, '2'),
      good.with(1, ''),
      good.with(1, 'x'.repeat(129)),
      good.with(6, '0123456789AB'),
      good.with(6, '0123456789a'),
      good.with(7, '0'),
      good.with(9, '0'),
      good.with(9, '2'),
      good.with(10, ''),
      good.with(10, `c${'x'.repeat(129)}`),
      good.with(9, '129').with(10, 'x'.repeat(130)),
      good.slice(0, -1),
    ].map((parts) => parts.join('.'));
    for (const text of ['', '.', '........', 'no-such-token', '../../1', '\u0000', ...broken]) {
      expect([text, readPageToken(text)]).toEqual([text, null]);
    }
  });
});
