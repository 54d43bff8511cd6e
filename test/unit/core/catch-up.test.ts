import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonCodec, limits } from '../../../protocol/index.ts';
import type { Delta } from '../../../protocol/index.ts';
import { beginCatchUp, nextDelta, VERSION_ROWS_MAX } from '../../../src/core/catch-up.ts';
import type { CatchUpCourse } from '../../../src/core/catch-up.ts';
import { heldRow, heldRows } from '../../support/held-rows.ts';

const at = (syncVersion: number) => ({
  epoch: 'e1',
  syncVersion,
  total: 6,
  badge: 5,
  mentions: 2,
  digest: '0123456789ab',
});

function allDeltas(course: CatchUpCourse | null): Delta[] {
  const frames: Delta[] = [];
  for (let rest = course; rest !== null;) {
    const next = nextDelta(rest);
    frames.push(next.frame);
    rest = next.rest;
  }
  return frames;
}

describe('[SY7] a catch-up', () => {
  test('one frame from the base to the end, rows by version, with the sums of the end', () => {
    const rows = [heldRow('b', { version: 9 }), heldRow('a', { version: 4 }), heldRow('old', { version: 3 })];
    expect(allDeltas(beginCatchUp(rows, 3, at(9)))).toEqual([
      {
        t: 'delta',
        epoch: 'e1',
        base_version: 3,
        sync_version: 9,
        rows: [expect.objectContaining({ conv: 'a', version: 4 }), expect.objectContaining({ conv: 'b', version: 9 })],
        op: 'merged',
        total: 6,
        badge: 5,
        mentions: 2,
        digest: '0123456789ab',
      },
    ]);
  });

  test('[SY2] tombstones and hidden rows are in it', () => {
    const rows = [heldRow('left', { version: 5, member: false }), heldRow('hidden', { version: 6, hidden: true })];
    const [frame] = allDeltas(beginCatchUp(rows, 1, at(6)));
    expect(frame?.rows.map(({ conv, gone, hidden }) => [conv, gone, hidden])).toEqual([
      ['left', true, undefined],
      ['hidden', undefined, true],
    ]);
  });

  test('cut between versions, ascending, each frame based on the end of the one before', () => {
    const rows = heldRows(10, (n) => ({ version: Math.ceil(n / 2) + 1 }));
    const frames = allDeltas(beginCatchUp(rows, 1, at(6), 3));
    expect(
      frames.map(({ base_version, sync_version, rows: part }) => [base_version, sync_version, part.length]),
    ).toEqual([
      [1, 2, 2],
      [2, 3, 2],
      [3, 4, 2],
      [4, 5, 2],
      [5, 6, 2],
    ]);
  });

  test('a version is never cut, even where it alone is more than a frame should hold', () => {
    const rows = [...heldRows(250, () => ({ version: 2 })), heldRow('last', { version: 3 })];
    expect(allDeltas(beginCatchUp(rows, 1, at(3))).map(({ rows: part }) => part.length)).toEqual([250, 1]);
  });

  test('a version too large for any delta needs a snapshot; so does one of which no row is known', () => {
    const version = (count: number) => heldRows(count, () => ({ version: 2 }));
    expect(beginCatchUp(version(VERSION_ROWS_MAX), 1, at(2))).not.toBeNull();
    expect(beginCatchUp(version(VERSION_ROWS_MAX + 1), 1, at(2))).toBeNull();
    expect(beginCatchUp(heldRows(3), 1, at(2))).toBeNull();
  });

  test('whatever the versions, the frames join up, stay below a frame, and bring each row once', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 120 }), fc.boolean(), (versions, rowsMax, long) => {
        const rows = versions.flatMap((count, i) =>
          Array.from({ length: count }, (_, n) =>
            heldRow(`${long ? '\u0001'.repeat(100) : ''}${i}-${n}`, { version: i + 2 }),
          ),
        );
        const end = versions.length + 1;
        const frames = allDeltas(beginCatchUp(rows, 1, at(end), rowsMax));
        expect(frames.map(({ base_version }) => base_version)).toEqual([
          1,
          ...frames.slice(0, -1).map(({ sync_version }) => sync_version),
        ]);
        expect(frames.at(-1)?.sync_version).toBe(end);
        expect(frames.flatMap(({ rows: part }) => part.map(({ conv }) => conv)).toSorted()).toEqual(
          rows.map(({ conv }) => conv).toSorted(),
        );
        for (const { base_version, sync_version, rows: part, ...rest } of frames) {
          for (const { version } of part) expect(version > base_version && version <= sync_version).toBe(true);
          const isOneVersion = part.every(({ version }) => version === sync_version);
          expect(isOneVersion || part.length <= rowsMax).toBe(true);
          const bytes = Buffer.byteLength(jsonCodec.encode({ ...rest, base_version, sync_version, rows: part }));
          expect(isOneVersion || bytes < limits.frameBytesMax).toBe(true);
        }
      }),
    );
  });
});
