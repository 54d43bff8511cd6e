import { describe, expect, test } from 'vitest';
import { TOMBSTONES_MAX } from '../../src/core/user-state.ts';
import { plainRow } from '../support/truth-model.ts';
import { applied, live, part, viewOf } from './state-offers.ts';
import type { StateUnderTest } from './state.ts';

/** What is read of a state: since a version, after tombstones were dropped, and beside large conversations. */
export function readingContract(under: StateUnderTest): void {
  describe('reading since a version', () => {
    test('[SY2][LC2] gives the rows above it, tombstones included, and the sums of all', async () => {
      const user = await live(
        under,
        { conv: 'a', unread: 1 },
        { conv: 'b', unread: 2 },
        { conv: 'c', unread: 4 },
        { conv: 'x', member: false },
      );
      await applied(under.state, user, {
        rows: [plainRow({ conv: 'b', convRev: 2, memberRev: 2, member: false, unread: 2 })],
      });
      await applied(under.state, user, { parts: [part({ conv: 'a' })] });
      const since = async (version: number) =>
        (await viewOf(under.state, user, version)).rows.map((row) => [row.conv, row.version]);
      expect(await since(0)).toEqual([
        ['a', 3],
        ['b', 2],
        ['c', 1],
      ]);
      expect(await since(1)).toEqual([
        ['a', 3],
        ['b', 2],
      ]);
      expect(await since(2)).toEqual([['a', 3]]);
      expect(await since(3)).toEqual([]);
      expect(await since(Number.MAX_SAFE_INTEGER)).toEqual([]);
      expect(await viewOf(under.state, user, 2)).toMatchObject({ syncVersion: 3, total: 6 });
    });

    test('[SY5] rows that were given out stay as they were', async () => {
      const user = await live(under, { conv: 'c' });
      const given = await viewOf(under.state, user);
      const copy = structuredClone(given);
      await applied(under.state, user, { parts: [part()] });
      expect(given).toEqual(copy);
    });

    test('[SY2][CN9] of more tombstones than are kept the floor rises, and revs still keep older rows out', async () => {
      const convs = Array.from({ length: TOMBSTONES_MAX + 1 }, (_, i) => `c${String(i).padStart(5, '0')}`);
      const user = await live(under, ...convs.map((conv) => ({ conv, unread: 1 })));
      for (let i = 0; i < convs.length; i += 100) {
        const rows = convs.slice(i, i + 100).map((conv) => plainRow({ conv, convRev: 2, memberRev: 2, member: false }));
        await applied(under.state, user, { op: 'leave', rows });
      }
      const { syncVersion, tombstoneFloor } = await viewOf(under.state, user);
      expect(tombstoneFloor).toBeGreaterThan(1);
      expect(tombstoneFloor).toBeLessThanOrEqual(syncVersion);
      const kept = (await viewOf(under.state, user, tombstoneFloor)).rows;
      expect(kept.map(({ conv }) => conv)).toEqual(convs.slice((tombstoneFloor - 1) * 100));
      const older = convs.map((conv) => plainRow({ conv, unread: 1 }));
      expect(await applied(under.state, user, { rows: older })).toMatchObject({
        change: null,
        derive: [],
        head: { total: 0 },
      });
    });
  });

  describe('large conversations', () => {
    test('[CN8] are behind when their rev is known to be higher, or not known; known revs are only ever raised', async () => {
      const name = under.freshUser();
      const [level, behind, away] = [`${name}-level`, `${name}-behind`, `${name}-away`];
      const user = await live(
        under,
        { conv: level, large: true, convRev: 5 },
        { conv: behind, large: true, convRev: 5 },
        { conv: away, large: true, convRev: 5, away: true },
        { conv: `${name}-left`, large: true, convRev: 5, member: false },
        { conv: `${name}-small`, convRev: 5 },
      );
      const behindNow = async () => (await viewOf(under.other, user)).largeBehind.toSorted();
      const all = (await under.state.read(user, Number.MAX_SAFE_INTEGER))?.large ?? [];
      expect(all.toSorted()).toEqual([away, behind, level]);
      expect(await behindNow()).toEqual([away, behind, level]);
      await under.state.raiseLarge(
        new Map([
          [level, 5],
          [behind, 6],
          [away, 6],
          [`${name}-left`, 6],
          [`${name}-small`, 6],
        ]),
      );
      expect(await behindNow()).toEqual([away, behind]);
      await under.state.raiseLarge(
        new Map([
          [behind, 5],
          [away, 1],
          [level, 0],
        ]),
      );
      expect(await behindNow()).toEqual([away, behind]);
      await applied(under.state, user, { rows: [plainRow({ conv: behind, large: true, convRev: 7 })] });
      expect(await behindNow()).toEqual([away]);
      await under.state.raiseLarge(new Map());
    });
  });
}
