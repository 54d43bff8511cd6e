import { describe, expect, test } from 'vitest';
import { plainRow, TruthModel } from '../support/truth-model.ts';
import { applied, build, live, NEVER_MS, offer, part, viewOf } from './state-offers.ts';
import type { StateUnderTest } from './state.ts';

/** Builds: marker, dirty list, take-over, abandoning (ARCHITECTURE, flows). */
export function buildsContract(under: StateUnderTest): void {
  describe('builds', () => {
    test('[SY10] a marker is no state: nothing is read, and what is offered goes to the dirty list', async () => {
      const user = under.freshUser();
      expect(await under.state.beginBuild(user, 'token', NEVER_MS)).toBe(true);
      expect(await under.other.read(user)).toBeNull();
      const rows = [plainRow({ conv: 'a' }), plainRow({ conv: 'b' })];
      const parts = [part({ conv: 'b' }), part({ conv: 'c' })];
      expect(await offer(under.other, user, { rows, parts })).toEqual({ kind: 'building' });
      expect(await offer(under.state, user, { parts: [part({ conv: 'c', fromRev: 2, toRev: 3 })] })).toEqual({
        kind: 'building',
      });
      expect(await under.state.read(user)).toBeNull();
      const complete = async () =>
        under.state.completeBuild(user, 'token', 'epoch-1', [plainRow({ conv: 'a', unread: 1 })]);
      const { stored, dirty } = await complete();
      expect({ stored, dirty: dirty.toSorted() }).toEqual({ stored: false, dirty: ['a', 'b', 'c'] });
      expect(await under.other.read(user)).toBeNull();
      // What changes while those are derived is handed over by the next try.
      expect(await offer(under.other, user, { parts: [part({ conv: 'b', fromRev: 2, toRev: 3 })] })).toEqual({
        kind: 'building',
      });
      expect(await complete()).toEqual({ stored: false, dirty: ['b'] });
      expect(await complete()).toEqual({ stored: true, dirty: [] });
      expect(await viewOf(under.other, user)).toMatchObject({ epoch: 'epoch-1', syncVersion: 1, total: 1 });
    });

    test('[SY10] who will not try again stores what it has, and is told what changed meanwhile', async () => {
      const user = under.freshUser();
      await under.state.beginBuild(user, 'token', NEVER_MS);
      await offer(under.other, user, { parts: [part()] });
      const rows = [plainRow({ conv: 'c', unread: 1 })];
      expect(await under.state.completeBuild(user, 'token', 'epoch-1', rows, true)).toEqual({
        stored: true,
        dirty: ['c'],
      });
      expect(await viewOf(under.other, user)).toMatchObject({ epoch: 'epoch-1', total: 1 });
    });

    test('[SY10] one build at a time: a second is refused until the first is old enough to be taken over', async () => {
      const user = under.freshUser();
      expect(await under.state.beginBuild(user, 'first', NEVER_MS)).toBe(true);
      expect(await under.other.beginBuild(user, 'second', NEVER_MS)).toBe(false);
      expect(await under.other.beginBuild(user, 'second', 0)).toBe(true);
      expect(await under.state.completeBuild(user, 'first', 'epoch-1', [plainRow({ conv: 'c', unread: 1 })])).toEqual({
        stored: false,
        dirty: [],
      });
      expect(await under.state.read(user)).toBeNull();
      expect(
        await under.other.completeBuild(user, 'second', 'epoch-2', [plainRow({ conv: 'c', unread: 2 })]),
      ).toMatchObject({ stored: true });
      expect(await viewOf(under.state, user)).toMatchObject({ epoch: 'epoch-2', syncVersion: 1, total: 2 });
    });

    test('[SY10] a build that was taken over can no longer abandon or complete what came after it', async () => {
      const user = under.freshUser();
      await under.state.beginBuild(user, 'first', NEVER_MS);
      await under.state.beginBuild(user, 'second', 0);
      await under.state.abandonBuild(user, 'first');
      expect(await offer(under.state, user, { parts: [part()] })).toEqual({ kind: 'building' });
      expect(await under.state.completeBuild(user, 'first', 'epoch-1', [])).toEqual({ stored: false, dirty: [] });
      expect(await under.state.completeBuild(user, 'second', 'epoch-2', [], true)).toEqual({
        stored: true,
        dirty: ['c'],
      });
      expect(await under.state.completeBuild(user, 'first', 'epoch-1', [], true)).toEqual({ stored: false, dirty: [] });
      await under.state.abandonBuild(user, 'second');
      expect(await viewOf(under.state, user)).toMatchObject({ epoch: 'epoch-2' });
    });

    test('[SY10] the same token again is the same build: it begins anew', async () => {
      const user = under.freshUser();
      await under.state.beginBuild(user, 'token', NEVER_MS);
      expect(await under.state.beginBuild(user, 'token', NEVER_MS)).toBe(true);
      expect(await under.state.completeBuild(user, 'token', 'epoch-1', [])).toMatchObject({ stored: true });
      expect(await under.state.completeBuild(user, 'token', 'epoch-2', [])).toEqual({ stored: false, dirty: [] });
      expect(await viewOf(under.state, user)).toMatchObject({ epoch: 'epoch-1' });
    });

    test('[SY10] an abandoned build leaves the user missing, and the next may begin at once', async () => {
      const user = under.freshUser();
      await under.state.beginBuild(user, 'first', NEVER_MS);
      await under.state.abandonBuild(user, 'first');
      expect(await offer(under.state, user, { parts: [part()] })).toEqual({ kind: 'missing' });
      expect(await under.state.beginBuild(user, 'second', NEVER_MS)).toBe(true);
    });

    test('[SY10] a build whose marker was dropped or evicted stores nothing', async () => {
      for (const lose of [async (user: string) => under.state.drop(user), async (user: string) => under.evict(user)]) {
        const user = under.freshUser();
        await under.state.beginBuild(user, 'token', NEVER_MS);
        await lose(user);
        expect(await under.state.completeBuild(user, 'token', 'epoch-1', [plainRow({ conv: 'c', unread: 1 })])).toEqual(
          { stored: false, dirty: [] },
        );
        expect(await under.state.read(user)).toBeNull();
      }
    });

    test('[SY1][SY10] a build over a live state forgets it at once, and what it was under goes with it', async () => {
      const user = await live(under, { conv: 'c', unread: 1 }, { conv: 'old', unread: 5 });
      await applied(under.state, user, { parts: [part()] });
      expect(await under.state.beginBuild(user, 'token', NEVER_MS)).toBe(true);
      expect(await under.state.read(user)).toBeNull();
      await under.state.completeBuild(user, 'token', 'epoch-2', [plainRow({ conv: 'c', convRev: 2, unread: 2 })]);
      const view = await viewOf(under.state, user);
      expect(view).toMatchObject({ epoch: 'epoch-2', syncVersion: 1, total: 2 });
      expect(view.rows.map(({ conv }) => conv)).toEqual(['c']);
    });

    test('[SY10] a build of many conversations is stored whole', async () => {
      const user = under.freshUser();
      const rows = Array.from({ length: 5000 }, (_, i) =>
        plainRow({ conv: `c${i}`, unread: i % 7, mentions: i % 3, muted: i % 2 === 0 }),
      );
      await build(under.state, user, 'epoch-1', rows);
      const view = await viewOf(under.state, user);
      expect(view.rows).toHaveLength(5000);
      expect(view.total).toBe(rows.reduce((sum, row) => sum + row.unread, 0));
    });
  });

  describe('a build that races a fan-out', () => {
    /** A message is committed while a build is under way; its part is offered before or after the build completes. */
    async function raced(offered: 'meanwhile' | 'afterwards', readBeforeMessage: boolean) {
      const user = under.freshUser();
      const truth = new TruthModel();
      truth.create('c', [user, 'other']);
      await under.state.beginBuild(user, 'token', NEVER_MS);
      const before = truth.rowsOf(user);
      const { part: told } = truth.post('c', [{ sender: 'other' }]);
      const rows = readBeforeMessage ? before : truth.rowsOf(user);
      const tell = async () => offer(under.other, user, { parts: [told!] });
      const early = offered === 'meanwhile' ? await tell() : null;
      const { stored, dirty } = await under.state.completeBuild(user, 'token', 'epoch-1', rows);
      if (!stored) {
        const derived = dirty.map((conv) => truth.row(conv, user));
        await under.state.completeBuild(user, 'token', 'epoch-1', derived);
      }
      const late = offered === 'afterwards' ? await tell() : null;
      const { total } = await viewOf(under.state, user);
      return { answer: (early ?? late)?.kind, dirty, total };
    }

    test.each([
      ['before the message', true],
      ['after the message', false],
    ])('[SY10][CN9] ends with the message counted once when truth was read %s', async (_, readBeforeMessage) => {
      expect(await raced('meanwhile', readBeforeMessage)).toEqual({ answer: 'building', dirty: ['c'], total: 1 });
      expect(await raced('afterwards', readBeforeMessage)).toEqual({ answer: 'applied', dirty: [], total: 1 });
    });

    test('[CN9] a row derived before the build and offered after it does not replace what the build read', async () => {
      const user = under.freshUser();
      const truth = new TruthModel();
      truth.create('c', [user, 'other']);
      truth.create('left', [user, 'other']);
      truth.post('left', [{ sender: 'other' }]);
      const old = truth.rowsOf(user);
      truth.post('c', [{ sender: 'other' }]);
      truth.leave('left', user);
      await build(under.state, user, 'epoch-1', truth.rowsOf(user));
      expect(await applied(under.other, user, { rows: old })).toMatchObject({
        change: null,
        derive: [],
        head: { syncVersion: 1, total: 1 },
      });
    });

    test('[SY10] what was dirty under a marker that was taken over is not handed to the new build, which reads truth after it', async () => {
      const user = under.freshUser();
      await under.state.beginBuild(user, 'first', NEVER_MS);
      await offer(under.state, user, { parts: [part({ conv: 'early' })] });
      await under.state.beginBuild(user, 'second', 0);
      await offer(under.state, user, { parts: [part({ conv: 'late' })] });
      expect(await under.state.completeBuild(user, 'second', 'epoch-2', [])).toEqual({
        stored: false,
        dirty: ['late'],
      });
    });
  });
}
