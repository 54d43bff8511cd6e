import { describe, expect, test } from 'vitest';
import { digestOf, formatDigest, requestSync } from '../../../protocol/index.ts';
import type { Row, ServerFrame } from '../../../protocol/index.ts';
import { EPOCH, row, sums, delta, answer, page, beat, held, live, play, causes, unread } from './device-frames.ts';

describe('live', () => {
  test('[SY3] a delta replaces rows, and the sums are those of the frame', () => {
    const b4 = row('b', 4, 1, { muted: true, mentions: 1 });
    const { state, actions } = play(live(), delta(3, 4, [b4], [row('a', 2, 2), b4]));
    expect(actions).toEqual([]);
    expect(unread(state)).toEqual({ a: 2, b: 1 });
    expect(state).toMatchObject({ syncVersion: 4, total: 3, badge: 3, mentions: 1 });
    expect(state.own).toEqual({ total: 3, badge: 3, mentions: 1, digest: digestOf([row('a', 2, 2), b4]) });
  });

  test('[SY3] a row at or below the version held is not applied', () => {
    const { state } = play(live(), delta(3, 4, [row('a', 2, 9), row('b', 4, 1)], [row('a', 2, 2), row('b', 4, 1)]));
    expect(unread(state)).toEqual({ a: 2, b: 1 });
  });

  test('[SY3] a row that is not held, at or below our version, has been seen and is gone', () => {
    const all = [...held, row('d', 4, 1)];
    const { state, actions } = play(live(), delta(3, 4, [row('c', 2, 9), row('d', 4, 1)], all));
    expect(actions).toEqual([]);
    expect(unread(state)).toEqual({ a: 2, b: 3, d: 1 });
  });

  test('[LC2] a tombstone takes the row away, and an older row does not bring it back', () => {
    const left = play(live(), delta(3, 4, [row('b', 4, 0, { gone: true })], [row('a', 2, 2)]));
    expect(unread(left.state)).toEqual({ a: 2 });
    const again = play(left.state, answer('delta', 5, [row('a', 5, 1)]), {
      ...delta(2, 5, [row('b', 3, 3), row('a', 5, 1)], [row('a', 5, 1)]),
    });
    expect(unread(again.state)).toEqual({ a: 1 });
    expect(again.actions).toEqual([]);
  });

  test('[LC4] a hidden row is kept and adds nothing', () => {
    const hidden = row('b', 4, 3, { hidden: true });
    const { state, actions } = play(live(), delta(3, 4, [hidden], [row('a', 2, 2), hidden]));
    expect(actions).toEqual([]);
    expect(state).toMatchObject({ total: 2, badge: 2 });
    expect(state.rows.get('b')?.hidden).toBe(true);
  });

  test('[SY4] a delta with another base is not applied; the device asks once', () => {
    const ahead = play(live(), delta(4, 5, [row('a', 5, 9)], held));
    expect(causes(ahead)).toEqual(['gap']);
    expect(unread(ahead.state)).toEqual({ a: 2, b: 3 });
    expect(causes(play(ahead.state, delta(5, 6, [row('a', 6, 9)], held)))).toEqual([]);
    expect(causes(play(live(), delta(2, 3, [row('b', 3, 3)], held)))).toEqual(['gap']);
  });

  test('[SY1] a delta of another epoch, one that does not rise or has rows above its version is not applied', () => {
    expect(causes(play(live(), { ...delta(3, 4, [row('a', 4, 1)], held), epoch: 'other' }))).toEqual(['epoch']);
    expect(causes(play(live(), delta(3, 3, [row('a', 3, 1)], held)))).toEqual(['gap']);
    const wild = play(live(), delta(3, 4, [row('a', 5, 1)], held));
    expect(causes(wild)).toEqual(['gap']);
    expect(wild.state.syncVersion).toBe(3);
  });

  test('[SY7] sums that differ after a delta make it ask, with its own digest', () => {
    const wrong = play(live(), delta(3, 4, [row('a', 4, 1)], [row('a', 4, 1), row('b', 3, 4)]));
    expect(causes(wrong)).toEqual(['mismatch']);
    const { frame } = requestSync(wrong.state);
    expect(frame).toEqual({
      t: 'sync',
      cursor: { epoch: EPOCH, sync_version: 4 },
      digest: formatDigest(digestOf([row('a', 4, 1), row('b', 3, 3)])),
    });
  });

  test('[SY7] each of total, badge, mentions and digest is compared', () => {
    const good = delta(3, 4, [row('a', 4, 1)], [row('a', 4, 1), row('b', 3, 3)]);
    expect(causes(play(live(), good))).toEqual([]);
    for (const wrong of [{ total: 5 }, { badge: 5 }, { mentions: 1 }, { digest: '000000000000' }]) {
      expect(causes(play(live(), { ...good, ...wrong }))).toEqual(['mismatch']);
    }
  });
});

describe('heartbeats and acks', () => {
  const acked = (version: number, all: Row[]): ServerFrame => {
    const { total, digest } = sums(all);
    return { t: 'acked', id: 1, items: [], sync_version: version, total, digest };
  };

  test.each([
    { name: 'hb', frame: beat },
    { name: 'acked', frame: acked },
  ])('[SY7] $name: equal is compared, lower is not, higher is asked for', ({ frame }) => {
    expect(causes(play(live(), frame(3, held)))).toEqual([]);
    expect(causes(play(live(), frame(3, [row('a', 2, 1)])))).toEqual(['mismatch']);
    expect(causes(play(live(), frame(2, [row('a', 2, 1)])))).toEqual([]);
    expect(causes(play(live(), frame(4, held)))).toEqual(['behind']);
  });

  test('[SY1] a heartbeat of another epoch is asked about', () => {
    expect(causes(play(live(), beat(3, held, 'other')))).toEqual(['epoch']);
  });

  test('[SY7] nothing is compared while a page or a catch-up frame is due', () => {
    const inCatchUp = play(live(), answer('delta', 5, [row('a', 5, 1)])).state;
    expect(causes(play(inCatchUp, beat(3, [row('a', 2, 1)])))).toEqual([]);
    expect(causes(play(inCatchUp, beat(6, held)))).toEqual(['behind']);
    const inSnapshot = play(live(), answer('snapshot', 5, [row('a', 5, 1)])).state;
    expect(causes(play(inSnapshot, beat(5, [row('a', 2, 1)])))).toEqual([]);
    expect(causes(play(inSnapshot, beat(6, held)))).toEqual(['behind']);
  });

  test('[CD1] acked, errors and byes change nothing that is shown', () => {
    const state = live();
    const frames: ServerFrame[] = [
      { ...acked(3, held), items: [{ conv: 'a', status: 'applied', read_seq: 9, unread: 0 }] } as ServerFrame,
      { t: 'error', id: 1, code: 'unavailable', message: 'a store is away' },
      { t: 'auth_ok', expires_at: 5 },
      { t: 'bye', code: 4000, reason: 'draining' },
    ];
    expect(play(state, ...frames).state).toEqual(state);
  });

  test('[CD7] an answer that does not come is asked for again after three heartbeats', () => {
    const { state } = requestSync(live());
    const two = play(state, beat(3, held), beat(3, held));
    expect(causes(two)).toEqual([]);
    expect(causes(play(two.state, beat(3, held)))).toEqual(['stalled']);
  });

  test('[CD7] pages that come nearer start the count anew', () => {
    const all = [row('a', 5, 1), row('b', 5, 1)];
    const { state } = play(live(), answer('snapshot', 5, all), beat(5, all), beat(5, all));
    const nearer = play(state, page(1, 5, [row('a', 5, 1)], all, 'p2'), beat(5, all), beat(5, all));
    expect(causes(nearer)).toEqual([]);
    expect(causes(play(nearer.state, beat(5, all)))).toEqual(['stalled']);
  });
});

describe('answers', () => {
  test('[SY2] noop at the version held is compared; above it, it is asked about', () => {
    expect(causes(play(live(), answer('noop', 3, held)))).toEqual([]);
    expect(causes(play(live(), answer('noop', 3, [row('a', 2, 1)])))).toEqual(['mismatch']);
    expect(causes(play(live(), answer('noop', 4, held)))).toEqual(['behind']);
  });

  test('[SY2] noop or delta of another epoch cannot be an answer to our cursor', () => {
    expect(causes(play(live(), answer('noop', 3, held, 'other')))).toEqual(['epoch']);
    expect(causes(play(live(), answer('delta', 9, held, 'other')))).toEqual(['epoch']);
  });

  test('[SY7] the old numbers are shown until a catch-up reaches its end', () => {
    const end = [row('a', 4, 9), row('b', 5, 9)];
    const part = play(live(), answer('delta', 5, end), delta(3, 4, [row('a', 4, 9)], end));
    expect(unread(part.state)).toEqual({ a: 2, b: 3 });
    expect(part.state).toMatchObject({ syncVersion: 3, total: 5, catchup: { at: 4, target: 5 } });
    const { state } = play(part.state, delta(4, 5, [row('b', 5, 9)], end));
    expect(state).toMatchObject({ syncVersion: 5, total: 18, catchup: null });
  });

  test('[SY4][CD4] a catch-up may begin below our version, never above it', () => {
    const end = [row('a', 5, 1), row('b', 3, 3)];
    const inCatchUp = play(live(), answer('delta', 5, end)).state;
    expect(causes(play(inCatchUp, delta(2, 5, [row('b', 3, 3), row('a', 5, 1)], end)))).toEqual([]);
    expect(causes(play(inCatchUp, delta(4, 5, [row('a', 5, 1)], end)))).toEqual(['gap']);
  });

  test('[SY6] a snapshot replaces: what it does not list is not there', () => {
    const all = [row('c', 5, 1)];
    const { state } = play(live(), answer('snapshot', 5, all), page(1, 5, all, all));
    expect(unread(state)).toEqual({ c: 1 });
    expect(state).toMatchObject({ syncVersion: 5, total: 1, snapshot: null });
  });

  test('[SY6] pages out of turn, of another version, or that nobody announced are asked about', () => {
    const all = [row('a', 5, 1), row('b', 5, 1)];
    const begun = play(live(), answer('snapshot', 5, all)).state;
    expect(causes(play(begun, page(2, 5, all, all)))).toEqual(['page']);
    expect(causes(play(begun, page(1, 4, all, all)))).toEqual(['page']);
    expect(causes(play(begun, { ...page(1, 5, all, all), epoch: 'other' }))).toEqual(['page']);
    expect(causes(play(live(), page(1, 5, all, all)))).toEqual(['page']);
  });

  test('[SY6] a delta between pages decides by row versions, and its sums are the ones to meet', () => {
    const all = [row('a', 5, 1), row('b', 4, 1), row('c', 3, 1)];
    const after = [row('a', 6, 7), row('c', 3, 1)];
    const { state, actions } = play(
      live(),
      answer('snapshot', 5, all),
      page(1, 5, [row('c', 3, 1)], all, 'p2'),
      delta(5, 7, [row('a', 6, 7), row('b', 7, 0, { gone: true })], after),
      page(2, 5, [row('a', 5, 1), row('b', 4, 1)], all),
    );
    expect(actions).toEqual([]);
    expect(unread(state)).toEqual({ a: 7, c: 1 });
    expect(state).toMatchObject({ syncVersion: 7, total: 8 });
  });

  test('[SY4][SY6] a hole between pages is asked about, a push from before the snapshot brings nothing back', () => {
    const all = [row('a', 5, 1)];
    const begun = play(live(), answer('snapshot', 5, all)).state;
    expect(causes(play(begun, delta(6, 7, [row('a', 7, 2)], [row('a', 7, 2)])))).toEqual(['gap']);
    const stale = delta(3, 4, [row('c', 4, 4)], [...held, row('c', 4, 4)]);
    const { state, actions } = play(begun, stale, page(1, 5, all, all));
    expect(actions).toEqual([]);
    expect(unread(state)).toEqual({ a: 1 });
  });

  test('[SY7] the sums of a catch-up that ends below what a push has brought are left alone', () => {
    const newer = [row('a', 6, 7), row('b', 3, 3)];
    const { state, actions } = play(
      requestSync(live()).state,
      delta(3, 6, [row('a', 6, 7)], newer),
      answer('delta', 5, [row('a', 5, 6), row('b', 3, 3)]),
      delta(3, 5, [row('a', 5, 6)], [row('a', 5, 6), row('b', 3, 3)]),
    );
    expect(actions).toEqual([]);
    expect(state).toMatchObject({ syncVersion: 6, total: 10, catchup: null });
    expect(unread(state)).toEqual({ a: 7, b: 3 });
  });

  test('[SY7] rows of a catch-up beyond the end of the next one are not shown without their sums', () => {
    const end = [row('a', 5, 9), row('b', 3, 3)];
    const part = play(live(), answer('delta', 6, end), delta(3, 5, [row('a', 5, 9)], end)).state;
    const step = play(part, answer('delta', 4, held), delta(3, 4, [row('b', 4, 3)], held));
    expect(causes(step)).toEqual(['gap']);
    expect(step.state).toMatchObject({ syncVersion: 3, total: 5 });
  });

  test('[SY6] each row of a snapshot is hashed once, when its page comes: the last page is no more work than the others', () => {
    let hashes = 0;
    // Nothing but the digest looks at the watermark here.
    const counted = (conv: string): Row =>
      Object.defineProperty(row(conv, 1, 1), 'read_seq', { get: () => hashes++ && 0 });
    const pages = [1, 2, 3].map((number) => Array.from({ length: 50 }, (_, i) => `c${number}-${i}`));
    const all = pages.flat().map((conv) => row(conv, 1, 1));
    let { state } = play(live(), answer('snapshot', 5, all));
    const hashed = pages.map((convs, i) => {
      const before = hashes;
      ({ state } = play(state, page(i + 1, 5, convs.map(counted), all, i < 2 ? 'next' : undefined)));
      return hashes - before;
    });
    expect(hashed).toEqual([50, 50, 50]);
    expect(state).toMatchObject({ snapshot: null, syncVersion: 5, total: 150, sync: 'idle' });
  });

  test('[SY10] a snapshot of a new epoch, unasked, keeps the screen until its last page', () => {
    const all = [row('a', 1, 1)];
    const begun = play(live(), answer('snapshot', 1, all, 'p0Lw8sRa'));
    expect(begun.actions).toEqual([]);
    expect(begun.state).toMatchObject({ epoch: EPOCH, syncVersion: 3, total: 5 });
    const { state } = play(begun.state, { ...page(1, 1, all, all), epoch: 'p0Lw8sRa' });
    expect(state).toMatchObject({ epoch: 'p0Lw8sRa', syncVersion: 1, total: 1 });
  });

  test('[SY7] a snapshot whose sums are not met is shown and asked about', () => {
    const wrong = play(live(), answer('snapshot', 5, held), page(1, 5, [row('a', 5, 1)], held));
    expect(causes(wrong)).toEqual(['mismatch']);
    expect(unread(wrong.state)).toEqual({ a: 1 });
  });
});
