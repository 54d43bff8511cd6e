import { describe, expect, test } from 'vitest';
import { plainRow } from '../support/truth-model.ts';
import { applied, live, message, part, viewOf } from './state-offers.ts';
import type { StateUnderTest } from './state.ts';

/** Parts of conversations offered to live states, and calls for many users. */
export function partsContract(under: StateUnderTest): void {
  describe('parts', () => {
    test('[CN1][CN2][CN4][CN5] count what others wrote, and mentions by name or of all once a message', async () => {
      const user = await live(under, { conv: 'c', unread: 1 });
      const messages = [
        message({ seq: 1 }),
        message({ seq: 2, mentions: ['x', user, 'y'] }),
        message({ seq: 3, mentionAll: true, mentions: [user] }),
        message({ seq: 4, sender: user, mentionAll: true, mentions: [user] }),
        message({ seq: 5, counts: false, mentionAll: true }),
        message({ seq: 6, mentions: [`${user}x`, user.toUpperCase()] }),
      ];
      const { change } = await applied(under.state, user, { parts: [part({ toRev: 3, headSeq: 6, messages })] });
      const wire = { conv: 'c', version: 2, unread: 5, mentions: 2, read_seq: 0, read_epoch: 0, head_seq: 6 };
      expect(change).toMatchObject({ syncVersion: 2, total: 5, mentions: 2, rows: [wire] });
      expect((await viewOf(under.state, user)).rows[0]).toMatchObject({ convRev: 3, memberRev: 1, unread: 5 });
    });

    test('[CN9] doubled, the second changes nothing', async () => {
      const user = await live(under, { conv: 'c' });
      await applied(under.state, user, { parts: [part()] });
      const before = await viewOf(under.state, user);
      for (const again of [part(), part({ fromRev: 0 }), part({ fromRev: -1, toRev: 1 })]) {
        expect(await applied(under.state, user, { parts: [again] })).toMatchObject({ change: null, derive: [] });
      }
      expect(await viewOf(under.state, user)).toEqual(before);
    });

    test('[CN9] reordered, the one that does not follow is derived and the one that follows is applied', async () => {
      const user = await live(under, { conv: 'c' });
      const [first, second] = [part(), part({ fromRev: 2, toRev: 3, headSeq: 2 })];
      expect(await applied(under.state, user, { parts: [second] })).toMatchObject({ change: null, derive: ['c'] });
      expect(await applied(under.state, user, { parts: [first] })).toMatchObject({ change: { total: 1 }, derive: [] });
      await applied(under.state, user, { rows: [plainRow({ conv: 'c', convRev: 3, unread: 2 })] });
      expect(await applied(under.state, user, { parts: [second] })).toMatchObject({
        change: null,
        derive: [],
        head: { total: 2 },
      });
    });

    test('[CN9] merged, they follow on the first of them or not at all', async () => {
      const user = await live(under, { conv: 'c' }, { conv: 'ahead', convRev: 2, unread: 1 });
      const messages = [message(), message({ seq: 2 })];
      const merged = { toRev: 3, headSeq: 2, messages };
      const { change, derive } = await applied(under.state, user, {
        parts: [part(merged), part({ ...merged, conv: 'ahead' })],
      });
      expect(change).toMatchObject({ total: 3, rows: [{ conv: 'c', unread: 2 }] });
      expect(derive).toEqual(['ahead']);
    });

    test('[CN9] of a conversation that is not held, or that follow on no rev, are derived, each conversation once', async () => {
      const user = await live(under, { conv: 'held', unread: 1 });
      const parts = [part(), part({ fromRev: 2, toRev: 3 }), part({ conv: 'held', fromRev: -1, messages: [] })];
      const { change, derive } = await applied(under.state, user, { parts });
      expect(change).toBeNull();
      expect(derive.toSorted()).toEqual(['c', 'held']);
    });

    test('[SY1] of several conversations, and rows with them, are one version; rows come first', async () => {
      const user = await live(under, { conv: 'a' }, { conv: 'b' });
      const rows = [plainRow({ conv: 'b', convRev: 2, unread: 1 })];
      const parts = [part({ conv: 'a' }), part({ conv: 'b' }), part({ conv: 'b', fromRev: 2, toRev: 3 })];
      const { change } = await applied(under.state, user, { op: 'merged', rows, parts });
      expect(change).toMatchObject({ baseVersion: 1, syncVersion: 2, total: 3, op: 'merged' });
      expect(change?.rows.map(({ conv, unread }) => [conv, unread]).toSorted()).toEqual([
        ['a', 1],
        ['b', 2],
      ]);
    });

    test('[SY9] non-countable and own messages raise the rev without a version', async () => {
      const user = await live(under, { conv: 'c', unread: 2 });
      const messages = [message({ counts: false }), message({ seq: 2, sender: user })];
      expect((await applied(under.state, user, { parts: [part({ headSeq: 2, messages })] })).change).toBeNull();
      expect(await viewOf(under.state, user)).toMatchObject({
        syncVersion: 1,
        rows: [{ convRev: 2, headSeq: 2, unread: 2, version: 1 }],
      });
    });

    test.each([
      ['hidden', 'others', 3],
      ['hidden', 'me', 2],
      ['away', 'others', 3],
      ['away', 'me', 2],
    ])('[LC3][LC4][DT2] bring back a row that is %s, also those of %s', async (flag, sender, unread) => {
      const user = await live(under, { conv: 'c', unread: 2, [flag]: true });
      const notice = part({ messages: [message({ counts: false })] });
      expect((await applied(under.state, user, { parts: [notice] })).change).toBeNull();
      const back = part({ fromRev: 2, toRev: 3, messages: [message({ sender: sender === 'me' ? user : sender })] });
      const { change } = await applied(under.state, user, { parts: [back] });
      expect(change).toMatchObject({ syncVersion: 2, total: unread });
      expect(change?.rows[0]).toEqual({
        conv: 'c',
        version: 2,
        unread,
        mentions: 0,
        read_seq: 0,
        read_epoch: 0,
        head_seq: 1,
      });
    });

    test('[CN8] that concern only rows which are not large yet leave the others as they are', async () => {
      const user = await live(under, { conv: 'large', large: true, unread: 1 }, { conv: 'small', unread: 1 });
      const before = await viewOf(under.state, user);
      const parts = ['large', 'small'].map((conv) => part({ conv, fromRev: -1, toRev: 5, unlessLarge: true }));
      expect(await applied(under.state, user, { parts })).toMatchObject({ change: null, derive: ['small'] });
      expect(await viewOf(under.state, user)).toEqual(before);
    });

    test('[LC2] raise the rev of a row that is not a member and count nothing', async () => {
      const user = await live(under, { conv: 'c', member: false });
      expect(await applied(under.state, user, { parts: [part()] })).toMatchObject({ change: null, derive: [] });
      expect((await viewOf(under.state, user)).rows[0]).toMatchObject({ convRev: 2, unread: 0, version: 0 });
    });
  });

  describe('many users at once', () => {
    test('[SY1] answers come in the order of the calls, each atomic for its user; a user named twice is served twice', async () => {
      const [a, b] = [await live(under, { conv: 'c' }), await live(under, { conv: 'c', convRev: 9 })];
      const [gone, building] = [under.freshUser(), under.freshUser()];
      await under.state.beginBuild(building, 'token', 1000);
      const calls = [a, gone, b, building, a].map((user, i) => ({
        user,
        op: 'message' as const,
        rows: [],
        parts: [part(i < 4 ? {} : { fromRev: 2, toRev: 3 })],
      }));
      const answers = await under.state.apply(calls);
      expect(answers).toMatchObject([
        { kind: 'applied', change: { user: a, baseVersion: 1, syncVersion: 2, total: 1 } },
        { kind: 'missing' },
        { kind: 'applied', change: null, head: { syncVersion: 1 } },
        { kind: 'building' },
        { kind: 'applied', change: { user: a, baseVersion: 2, syncVersion: 3, total: 2 } },
      ]);
      expect(await under.state.apply([])).toEqual([]);
    });

    test('[CN9] a call that offers nothing answers where the user stands', async () => {
      const user = await live(under, { conv: 'c', unread: 3 });
      expect(await applied(under.state, user, {})).toMatchObject({
        change: null,
        derive: [],
        head: { syncVersion: 1, total: 3 },
      });
    });
  });
}
