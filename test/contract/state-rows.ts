import { describe, expect, test } from 'vitest';
import type { Change } from '../../src/ports.ts';
import { factsOf, plainRow } from '../support/truth-model.ts';
import { applied, build, live, message, offer, part, viewOf } from './state-offers.ts';
import type { StateUnderTest } from './state.ts';

/** What a build leaves behind, and absolute rows offered to it. */
export function rowsContract(under: StateUnderTest): void {
  describe('a built state', () => {
    test('[SY1][CN3] stands at version 1 of its epoch, with the sums of its listed rows', async () => {
      const user = await live(
        under,
        { conv: 'a', unread: 3, mentions: 1, readSeq: 2, floorSeq: 4, headSeq: 9, activity: 7 },
        { conv: 'b', unread: 5, mentions: 2, muted: true, marked: true, readEpoch: 6 },
        { conv: 'h', unread: 7, hidden: true },
        { conv: 'l', unread: 9, member: false },
      );
      const view = await viewOf(under.state, user);
      expect(view).toMatchObject({
        user,
        epoch: 'epoch-1',
        syncVersion: 1,
        total: 8,
        badge: 5,
        mentions: 3,
        largeBehind: [],
      });
      expect(view.tombstoneFloor).toBeLessThanOrEqual(1);
      expect(view.rows.map(({ conv, version }) => [conv, version])).toEqual([
        ['a', 1],
        ['b', 1],
        ['h', 1],
        ['l', 0],
      ]);
      expect(view.rows[0]).toMatchObject(
        plainRow({ conv: 'a', unread: 3, mentions: 1, readSeq: 2, floorSeq: 4, headSeq: 9, activity: 7 }),
      );
      expect(view.rows[1]).toMatchObject(
        plainRow({ conv: 'b', unread: 5, mentions: 2, muted: true, marked: true, readEpoch: 6 }),
      );
    });

    test('[SY10] of a user without conversations is a state and not a missing one', async () => {
      const user = await live(under);
      const nothing = { total: 0, badge: 0, mentions: 0, digest: '000000000000' };
      expect(await viewOf(under.state, user)).toMatchObject({ epoch: 'epoch-1', syncVersion: 1, rows: [], ...nothing });
    });

    test('[SY10] is the same on another node', async () => {
      const user = await live(under, { conv: 'c', unread: 1 });
      await applied(under.other, user, { parts: [part()] });
      expect(await viewOf(under.other, user)).toEqual(await viewOf(under.state, user));
    });

    test('holds ids of any characters and numbers of any size exactly', async () => {
      const most = Number.MAX_SAFE_INTEGER;
      const convs = [
        '|',
        '"',
        '\\',
        ' ',
        '\0',
        '{}',
        ':',
        '%s',
        '\n',
        '\u00e9',
        'e\u0301',
        '会话',
        '🙂',
        'C',
        'c',
        '1',
        '01',
        'x'.repeat(128),
      ];
      const large = {
        readSeq: most - 1,
        headSeq: most,
        floorSeq: most - 2,
        convRev: most - 3,
        memberRev: most - 4,
        activity: most - 5,
      };
      const rows = convs
        .toSorted()
        .map((conv, i) => ({ conv, unread: 2 ** 40 + i, mentions: i, readEpoch: 2 ** 45 + i, ...large }));
      const user = await live(under, ...rows);
      expect((await viewOf(under.state, user)).rows.map((row) => row.conv)).toEqual(convs.toSorted());
      expect((await viewOf(under.state, user)).rows.map(factsOf)).toEqual(rows.map((row) => factsOf(plainRow(row))));
      const { change } = await applied(under.state, user, {
        parts: [part({ conv: '|', fromRev: most - 3, toRev: most - 2, headSeq: most, activity: most })],
      });
      expect(change).toMatchObject({ rows: [{ conv: '|', head_seq: most, read_seq: most - 1, floor_seq: most - 2 }] });
      await viewOf(under.state, user);
    });
  });

  describe('a user without state', () => {
    test('[SY10] is missing, never zero', async () => {
      const user = under.freshUser();
      expect(await under.state.read(user)).toBeNull();
      expect(await offer(under.state, user, { rows: [plainRow({ conv: 'c', unread: 1 })], parts: [part()] })).toEqual({
        kind: 'missing',
      });
      expect(await under.state.read(user)).toBeNull();
    });

    test('[SY10] that was evicted is missing, and is built again under a new epoch', async () => {
      const user = await live(under, { conv: 'c', unread: 1 });
      await applied(under.state, user, { parts: [part()] });
      await under.evict(user);
      expect(await under.state.read(user)).toBeNull();
      expect(await offer(under.state, user, { parts: [part({ fromRev: 2, toRev: 3 })] })).toEqual({ kind: 'missing' });
      await build(under.state, user, 'epoch-2', [plainRow({ conv: 'c', convRev: 3, unread: 3 })]);
      expect(await viewOf(under.state, user)).toMatchObject({ epoch: 'epoch-2', syncVersion: 1, total: 3 });
    });

    test('[SY10] that was dropped is missing', async () => {
      const user = await live(under, { conv: 'c', unread: 1 });
      await under.state.drop(user);
      expect(await under.state.read(user)).toBeNull();
    });
  });

  describe('absolute rows', () => {
    test('[SY1][SY3] a newer row is the next version; change and head say where the user stands', async () => {
      const user = await live(under, { conv: 'c', unread: 4 });
      const { change, head, derive } = await applied(under.state, user, {
        op: 'read',
        rows: [plainRow({ conv: 'c', memberRev: 2, readSeq: 3, headSeq: 4, unread: 1, muted: true })],
      });
      const { total, badge, mentions, digest } = await viewOf(under.state, user);
      const stands = { epoch: 'epoch-1', syncVersion: 2, total: 1, badge: 0, mentions: 0, digest };
      expect({ total, badge, mentions }).toEqual({ total: 1, badge: 0, mentions: 0 });
      const wire = {
        conv: 'c',
        version: 2,
        unread: 1,
        mentions: 0,
        read_seq: 3,
        read_epoch: 0,
        head_seq: 4,
        floor_seq: 0,
        muted: true,
      };
      expect(change).toEqual<Change>({ ...stands, user, baseVersion: 1, op: 'read', rows: [wire] });
      expect(head).toMatchObject(stands);
      expect(derive).toEqual([]);
    });

    test.each([
      ['older', [5, 4]],
      ['older', [4, 5]],
      ['older', [4, 4]],
      ['the same', [5, 5]],
    ])(
      '[CN9][SY9] a row with revs that are %s (%j after 5, 5) changes nothing',
      async (_, [convRev = 0, memberRev = 0]) => {
        const user = await live(under, { conv: 'c', convRev: 1 });
        await applied(under.state, user, { rows: [plainRow({ conv: 'c', convRev: 5, memberRev: 5, unread: 2 })] });
        const before = await viewOf(under.state, user);
        const { change, head, derive } = await applied(under.state, user, {
          rows: [plainRow({ conv: 'c', convRev, memberRev, unread: 9 })],
        });
        expect({ change, derive }).toEqual({ change: null, derive: [] });
        expect(head).toMatchObject({
          epoch: 'epoch-1',
          syncVersion: 2,
          total: 2,
          badge: 2,
          mentions: 0,
          digest: before.digest,
        });
        expect(await viewOf(under.state, user)).toEqual(before);
      },
    );

    test.each([
      [4, 6],
      [6, 4],
    ])('[CN9] revs that cross (%i, %i after 5, 5) are derived anew', async (convRev, memberRev) => {
      const user = await live(under, { conv: 'c', convRev: 5, memberRev: 5, unread: 2 }, { conv: 'd' });
      const rows = [
        plainRow({ conv: 'c', convRev, memberRev, unread: 9 }),
        plainRow({ conv: 'd', convRev: 2, unread: 1 }),
      ];
      const { change, derive } = await applied(under.state, user, { rows });
      expect(derive).toEqual(['c']);
      expect(change).toMatchObject({ syncVersion: 2, total: 3, rows: [{ conv: 'd' }] });
    });

    test('[SY9] what nobody can see is stored without a version', async () => {
      const user = await live(under, { conv: 'c', headSeq: 3 }, { conv: 'h', hidden: true, unread: 1 });
      const rows = [
        plainRow({ conv: 'c', convRev: 2, headSeq: 4, floorSeq: 4 }),
        plainRow({ conv: 'h', convRev: 2, hidden: true, unread: 2 }),
      ];
      expect((await applied(under.state, user, { rows })).change).toBeNull();
      const view = await viewOf(under.state, user);
      expect(view).toMatchObject({
        syncVersion: 1,
        rows: [
          { convRev: 2, headSeq: 4, floorSeq: 4, version: 1 },
          { convRev: 2, unread: 2, version: 1 },
        ],
      });
    });

    test('[SY9] the same number over other messages is a change; none unread before and after is not', async () => {
      const user = await live(under, { conv: 'c', unread: 1, othersEver: 1, headSeq: 1 }, { conv: 'read' });
      const rows = [
        plainRow({ conv: 'c', convRev: 3, unread: 1, othersEver: 2, headSeq: 2 }),
        plainRow({ conv: 'read', convRev: 3, othersEver: 1, headSeq: 1 }),
      ];
      const { change } = await applied(under.state, user, { rows });
      expect(change?.rows.map((row) => [row.conv, row.head_seq])).toEqual([['c', 2]]);
    });

    test('[SY1][SY9] many rows of one call are one version; those that differ in nothing have no part in it', async () => {
      const user = await live(under, { conv: 'a', unread: 1 }, { conv: 'b', unread: 1 }, { conv: 'same', unread: 1 });
      const rows = [
        plainRow({ conv: 'a', memberRev: 2, readSeq: 1 }),
        plainRow({ conv: 'b', memberRev: 2, readSeq: 1 }),
        plainRow({ conv: 'same', memberRev: 2, unread: 1 }),
        plainRow({ conv: 'new', unread: 4 }),
        plainRow({ conv: 'foreign', member: false, unread: 5 }),
        plainRow({ conv: 'once', unread: 1 }),
        plainRow({ conv: 'once', convRev: 2, away: true }),
      ];
      const { change } = await applied(under.state, user, { op: 'merged', rows });
      expect(change).toMatchObject({ baseVersion: 1, syncVersion: 2, total: 5, op: 'merged' });
      expect(change?.rows.map((row) => row.conv).toSorted()).toEqual(['a', 'b', 'new']);
      const versions = (await viewOf(under.state, user)).rows.map(({ conv, version }) => [conv, version]);
      expect(versions).toEqual([
        ['a', 2],
        ['b', 2],
        ['foreign', 0],
        ['new', 2],
        ['once', 0],
        ['same', 1],
      ]);
    });

    test('[CN8] a capped row changes only by its mentions', async () => {
      const user = await live(under, { conv: 'c', large: true, unread: 1000 });
      expect(
        (await applied(under.state, user, { rows: [plainRow({ conv: 'c', convRev: 2, large: true, unread: 1001 })] }))
          .change,
      ).toBeNull();
      const { change } = await applied(under.state, user, {
        rows: [plainRow({ conv: 'c', convRev: 3, large: true, unread: 1002, mentions: 1 })],
      });
      expect(change).toMatchObject({
        syncVersion: 2,
        total: 999,
        mentions: 1,
        rows: [{ unread: 999, mentions: 1, capped: true }],
      });
      expect((await viewOf(under.state, user)).rows[0]).toMatchObject({ unread: 1002 });
    });

    test('[SY7] a repair replaces a row at equal revs only where the user still stands, and nothing newer', async () => {
      const user = await live(under, { conv: 'c', unread: 2 }, { conv: 'd', convRev: 5, unread: 1 });
      const rows = [plainRow({ conv: 'c', unread: 3 }), plainRow({ conv: 'd', convRev: 4, unread: 7 })];
      for (const repairAt of [
        { epoch: 'epoch-1', syncVersion: 2 },
        { epoch: 'epoch-0', syncVersion: 1 },
      ]) {
        expect((await applied(under.state, user, { rows, repairAt })).change).toBeNull();
      }
      const { change } = await applied(under.state, user, { rows, repairAt: { epoch: 'epoch-1', syncVersion: 1 } });
      expect(change).toMatchObject({ syncVersion: 2, total: 4, rows: [{ conv: 'c', unread: 3 }] });
      await viewOf(under.state, user);
    });

    test('[SY6] the activity by which clients page changes only together with the version', async () => {
      const user = await live(under, { conv: 'c', activity: 10 });
      const activity = async () => (await viewOf(under.state, user)).rows[0]?.activity;
      await applied(under.state, user, { parts: [part({ activity: 20, messages: [message({ counts: false })] })] });
      await applied(under.state, user, { rows: [plainRow({ conv: 'c', convRev: 3, activity: 30 })] });
      expect(await activity()).toBe(10);
      await applied(under.state, user, {
        rows: [plainRow({ conv: 'c', convRev: 3, memberRev: 2, muted: true, activity: 30 })],
      });
      expect(await activity()).toBe(30);
      await applied(under.state, user, { parts: [part({ fromRev: 3, toRev: 4, activity: 40 })] });
      expect(await activity()).toBe(40);
    });
  });
}
