import { describe, expect, test } from 'vitest';
import { formatDigest, rowDigest } from '../../../protocol/index.ts';
import type { ConversationPart, PlainMessage, StateCall } from '../../../src/core/change-set.ts';
import type { DerivedRow } from '../../../src/core/row.ts';
import {
  buildUserState,
  FIRST_VERSION,
  headOf,
  largeOf,
  movedOn,
  offer,
  recount,
  rowsSince,
  TOMBSTONES_MAX,
} from '../../../src/core/user-state.ts';
import type { UserState } from '../../../src/core/user-state.ts';
import { plainRow } from '../../support/truth-model.ts';

const ME = 'me';

function built(...rows: DerivedRow[]): UserState {
  return buildUserState(ME, 'epoch-1', rows);
}

function call(fields: Partial<StateCall>): StateCall {
  return { user: ME, op: 'message', rows: [], parts: [], ...fields };
}

function offerRows(state: UserState, ...rows: DerivedRow[]) {
  return offer(state, call({ rows }));
}

function message(fields: Partial<PlainMessage> = {}): PlainMessage {
  return { seq: 1, sender: 'other', counts: true, mentionAll: false, mentions: [], ...fields };
}

function part(fields: Partial<ConversationPart> = {}): ConversationPart {
  const seqs = { fromRev: 1, toRev: 2, headSeq: 1, activity: 2 };
  return { conv: 'c', ...seqs, messages: [message()], ...fields };
}

function offerPart(state: UserState, fields: Partial<ConversationPart> = {}) {
  return offer(state, call({ parts: [part(fields)] }));
}

function held(state: UserState, conv = 'c') {
  return state.rows.get(conv)!;
}

describe('a state built from nothing', () => {
  test('[SY1][CN3] stands at the first version, with the sums of its listed rows', () => {
    const state = built(
      plainRow({ conv: 'a', unread: 3, mentions: 1 }),
      plainRow({ conv: 'b', unread: 5, mentions: 2, muted: true }),
      plainRow({ conv: 'hidden', unread: 7, hidden: true }),
      plainRow({ conv: 'left', unread: 9, member: false }),
    );
    expect(headOf(state)).toMatchObject({
      epoch: 'epoch-1',
      syncVersion: FIRST_VERSION,
      total: 8,
      badge: 5,
      mentions: 3,
    });
    expect(state.sums).toEqual(recount(state));
  });

  test('[SY8] has the digest of its listed rows and of no others', () => {
    const a = { conv: 'a', unread: 3, mentions: 0, read_epoch: 0, read_seq: 4 };
    const state = built(plainRow({ conv: 'a', unread: 3, readSeq: 4 }), plainRow({ conv: 'b', unread: 5, away: true }));
    expect(headOf(state).digest).toBe(formatDigest(rowDigest(a)));
  });

  test('[SY3] visible rows have the first version, rows that were never visible none', () => {
    const state = built(
      plainRow({ conv: 'a' }),
      plainRow({ conv: 'h', hidden: true }),
      plainRow({ conv: 'x', member: false }),
    );
    expect(held(state, 'a').version).toBe(1);
    expect(held(state, 'h').version).toBe(1);
    expect(held(state, 'x').version).toBe(0);
    expect(rowsSince(state, 0).map(({ conv }) => conv)).toEqual(['a', 'h']);
    expect(rowsSince(state)).toHaveLength(3);
  });

  test('of a user without conversations is a state and not a missing one', () => {
    expect(headOf(built())).toMatchObject({ syncVersion: 1, total: 0, digest: '000000000000' });
  });
});

describe('absolute rows', () => {
  test('[SY1][SY3] a newer row is stored as the next version', () => {
    const state = built(plainRow({ conv: 'c' }));
    const { change, derive } = offerRows(state, plainRow({ conv: 'c', convRev: 2, unread: 1, headSeq: 1 }));
    expect(derive).toEqual([]);
    expect(change).toMatchObject({
      user: ME,
      epoch: 'epoch-1',
      baseVersion: 1,
      syncVersion: 2,
      op: 'message',
      total: 1,
    });
    expect(change?.rows).toEqual([
      { conv: 'c', version: 2, unread: 1, mentions: 0, read_seq: 0, read_epoch: 0, head_seq: 1 },
    ]);
  });

  test.each([
    ['the conversation', { convRev: 4 }],
    ['the member', { memberRev: 4 }],
    ['both', { convRev: 4, memberRev: 4 }],
  ])('[CN9] a row with an older rev of %s changes nothing', (_, revs) => {
    const state = built(plainRow({ conv: 'c', convRev: 5, memberRev: 5, unread: 2 }));
    const before = held(state);
    expect(offerRows(state, plainRow({ conv: 'c', convRev: 5, memberRev: 5, unread: 9, ...revs }))).toEqual({
      change: null,
      derive: [],
    });
    expect(held(state)).toBe(before);
  });

  test.each([
    [4, 6],
    [6, 4],
  ])('[CN9] revs that cross (%i, %i against 5, 5) are derived anew', (convRev, memberRev) => {
    const state = built(plainRow({ conv: 'c', convRev: 5, memberRev: 5, unread: 2 }));
    const rows = [plainRow({ conv: 'c', convRev, memberRev, unread: 9 })];
    expect(offerRows(state, ...rows)).toEqual({ change: null, derive: ['c'] });
    expect(held(state).unread).toBe(2);
  });

  test('[SY9] the same row again changes nothing', () => {
    const state = built(plainRow({ conv: 'c', unread: 2 }));
    const before = held(state);
    expect(offerRows(state, plainRow({ conv: 'c', unread: 2 })).change).toBeNull();
    expect(held(state)).toBe(before);
  });

  test('[CN9] a row that differs at equal revs changes nothing', () => {
    const state = built(plainRow({ conv: 'c', unread: 2 }));
    expect(offerRows(state, plainRow({ conv: 'c', unread: 3 })).change).toBeNull();
    expect(held(state).unread).toBe(2);
  });

  test('[SY7] a repair replaces a row that differs at equal revs, if the user still stands where it was compared', () => {
    const state = built(plainRow({ conv: 'c', unread: 2 }));
    const rows = [plainRow({ conv: 'c', unread: 3 })];
    expect(offer(state, call({ rows, repairAt: { epoch: 'epoch-1', syncVersion: 2 } })).change).toBeNull();
    expect(offer(state, call({ rows, repairAt: { epoch: 'epoch-2', syncVersion: 1 } })).change).toBeNull();
    expect(held(state).unread).toBe(2);
    expect(offer(state, call({ rows, repairAt: { epoch: 'epoch-1', syncVersion: 1 } })).change).toMatchObject({
      syncVersion: 2,
      total: 3,
    });
    expect(state.sums).toEqual(recount(state));
  });

  test('[CN9] a repair stores nothing older', () => {
    const state = built(plainRow({ conv: 'c', convRev: 5, unread: 2 }));
    const rows = [plainRow({ conv: 'c', convRev: 4, unread: 3 })];
    expect(offer(state, call({ rows, repairAt: { epoch: 'epoch-1', syncVersion: 1 } })).change).toBeNull();
    expect(held(state).unread).toBe(2);
  });

  test('[SY9] the same number over other messages is a change, so that a device knows up to where it reads them', () => {
    const state = built(plainRow({ conv: 'c', unread: 1, othersEver: 1, headSeq: 1 }));
    const { change } = offerRows(state, plainRow({ conv: 'c', convRev: 3, unread: 1, othersEver: 2, headSeq: 2 }));
    expect(change?.rows).toEqual([expect.objectContaining({ version: 2, unread: 1, head_seq: 2 })]);
  });

  test('[SY9] head and floor are raised silently', () => {
    const state = built(plainRow({ conv: 'c', headSeq: 3 }));
    expect(offerRows(state, plainRow({ conv: 'c', convRev: 2, headSeq: 4, floorSeq: 4 })).change).toBeNull();
    expect(held(state)).toMatchObject({ convRev: 2, headSeq: 4, floorSeq: 4, version: 1 });
    expect(headOf(state).syncVersion).toBe(1);
  });

  test('[CN8] a capped row changes only by its mentions', () => {
    const state = built(plainRow({ conv: 'c', large: true, unread: 1000 }));
    expect(headOf(state).total).toBe(999);
    expect(offerRows(state, plainRow({ conv: 'c', convRev: 2, large: true, unread: 1001 })).change).toBeNull();
    const { change } = offerRows(state, plainRow({ conv: 'c', convRev: 3, large: true, unread: 1002, mentions: 1 }));
    expect(change).toMatchObject({ syncVersion: 2, total: 999, mentions: 1 });
    expect(change?.rows[0]).toMatchObject({ unread: 999, capped: true });
    expect(held(state).unread).toBe(1002);
  });

  test('[SY1] many rows of one call are one version', () => {
    const state = built(plainRow({ conv: 'a', unread: 1 }), plainRow({ conv: 'b', unread: 1 }));
    const { change } = offerRows(
      state,
      plainRow({ conv: 'a', memberRev: 2, readSeq: 1 }),
      plainRow({ conv: 'b', memberRev: 2, readSeq: 1 }),
      plainRow({ conv: 'c', unread: 4 }),
      plainRow({ conv: 'd', member: false }),
    );
    expect(change).toMatchObject({ baseVersion: 1, syncVersion: 2, total: 4 });
    expect(change?.rows.map(({ conv, version }) => [conv, version])).toEqual([
      ['a', 2],
      ['b', 2],
      ['c', 2],
    ]);
  });

  test('[SY9] a row that ends as it began within one call is no change', () => {
    const state = built(plainRow({ conv: 'c' }));
    const twice = [plainRow({ conv: 'c', convRev: 2, unread: 1 }), plainRow({ conv: 'c', convRev: 3, unread: 0 })];
    expect(offerRows(state, ...twice).change).toBeNull();
    expect(held(state)).toMatchObject({ convRev: 3, version: 1 });
    expect(state.sums).toEqual(recount(state));
  });
});

describe('parts', () => {
  test('[CN1][CN2][CN4][CN5] count what others wrote, and mentions by name or of all once a message', () => {
    const state = built(plainRow({ conv: 'c', unread: 1 }));
    const messages = [
      message({ seq: 1 }),
      message({ seq: 2, mentions: [ME, 'x'] }),
      message({ seq: 3, mentionAll: true, mentions: [ME] }),
      message({ seq: 4, sender: ME, mentionAll: true, mentions: [ME] }),
      message({ seq: 5, counts: false, mentionAll: true }),
    ];
    const { change, derive } = offerPart(state, { toRev: 3, headSeq: 5, messages });
    expect(derive).toEqual([]);
    expect(change).toMatchObject({ syncVersion: 2, total: 4, mentions: 2 });
    expect(held(state)).toMatchObject({ unread: 4, mentions: 2, convRev: 3, memberRev: 1, headSeq: 5 });
  });

  test('[CN9] a part that is known already changes nothing', () => {
    const state = built(plainRow({ conv: 'c' }));
    offerPart(state);
    const before = held(state);
    expect(offerPart(state)).toEqual({ change: null, derive: [] });
    expect(offerPart(state, { fromRev: -1, toRev: 1 })).toEqual({ change: null, derive: [] });
    expect(held(state)).toBe(before);
  });

  test.each([
    ['begins later than the row', { fromRev: 6, toRev: 7 }],
    ['begins before the row and ends after it', { fromRev: 4, toRev: 6 }],
    ['follows on no rev', { fromRev: -1, toRev: 6 }],
  ])('[CN9] a part that %s is not counted but derived', (_, revs) => {
    const state = built(plainRow({ conv: 'c', convRev: 5 }));
    expect(offerPart(state, revs)).toEqual({ change: null, derive: ['c'] });
    expect(held(state)).toMatchObject({ convRev: 5, unread: 0 });
  });

  test('[CN9] a part of a conversation that is not held is derived, once a call', () => {
    const state = built();
    const parts = [part(), part({ fromRev: 2, toRev: 3 }), part({ conv: 'd' })];
    expect(offer(state, call({ parts })).derive).toEqual(['c', 'd']);
    expect(state.rows.size).toBe(0);
  });

  test('[SY9] non-countable and own messages raise the rev without a version', () => {
    const state = built(plainRow({ conv: 'c', unread: 2 }));
    const messages = [message({ counts: false }), message({ seq: 2, sender: ME })];
    expect(offerPart(state, { headSeq: 2, messages }).change).toBeNull();
    expect(held(state)).toMatchObject({ convRev: 2, headSeq: 2, unread: 2, version: 1 });
  });

  test.each([
    ['hidden', 'other'],
    ['hidden', ME],
    ['away', 'other'],
    ['away', ME],
  ])('[LC3][LC4][DT2] a row that is %s comes back with a countable message of %s', (flag, sender) => {
    const state = built(plainRow({ conv: 'c', unread: 2, [flag]: true }));
    expect(headOf(state).total).toBe(0);
    const { change } = offerPart(state, { messages: [message({ sender })] });
    expect(change?.total).toBe(sender === ME ? 2 : 3);
    expect(change?.rows[0]).not.toHaveProperty('hidden');
    expect(state.sums).toEqual(recount(state));
  });

  test('[LC4][CN5] a hidden row stays hidden at a notice', () => {
    const state = built(plainRow({ conv: 'c', unread: 2, hidden: true }));
    expect(offerPart(state, { messages: [message({ counts: false })] }).change).toBeNull();
    expect(held(state).hidden).toBe(true);
  });

  test('[LC2] a row that is not a member has its rev raised and counts nothing', () => {
    const state = built(plainRow({ conv: 'c', member: false }));
    expect(offerPart(state)).toEqual({ change: null, derive: [] });
    expect(held(state)).toMatchObject({ convRev: 2, unread: 0, version: 0 });
  });

  test('[SY1] parts of several conversations are one version; the one that does not follow is named', () => {
    const state = built(plainRow({ conv: 'a' }), plainRow({ conv: 'b', convRev: 7 }), plainRow({ conv: 'c' }));
    const parts = [part({ conv: 'a' }), part({ conv: 'b', fromRev: 8, toRev: 9 }), part({ conv: 'c' })];
    const { change, derive } = offer(state, call({ parts, op: 'merged' }));
    expect(derive).toEqual(['b']);
    expect(change).toMatchObject({ syncVersion: 2, total: 2, op: 'merged' });
    expect(change?.rows.map(({ conv }) => conv)).toEqual(['a', 'c']);
  });
});

describe('paging', () => {
  test('[SY6] the activity by which clients page changes only together with the version', () => {
    const state = built(plainRow({ conv: 'c', activity: 10 }));
    offerPart(state, { activity: 20, messages: [message({ counts: false })] });
    expect(held(state)).toMatchObject({ version: 1, activity: 10, latestActivity: 20 });
    offerRows(state, plainRow({ conv: 'c', convRev: 3, activity: 30 }));
    expect(held(state)).toMatchObject({ version: 1, activity: 10, latestActivity: 30 });
    offerPart(state, { fromRev: 3, toRev: 4, activity: 40 });
    expect(held(state)).toMatchObject({ version: 2, activity: 40 });
  });

  test('[SY5] rows given out stay as they were', () => {
    const state = built(plainRow({ conv: 'c' }));
    const [given] = rowsSince(state);
    const copy = { ...given };
    offerPart(state);
    offerRows(state, plainRow({ conv: 'c', convRev: 3, member: false }));
    expect(given).toEqual(copy);
  });
});

describe('tombstones', () => {
  const leave = (conv: string) => plainRow({ conv, convRev: 2, memberRev: 2, member: false, unread: 3 });
  const manyConvs = Array.from({ length: TOMBSTONES_MAX + 1 }, (_, i) => `c${i}`);

  test('[LC2][SY2] a row that goes stays in deltas as a tombstone, with its version', () => {
    const state = built(plainRow({ conv: 'c', unread: 3 }));
    const { change } = offerRows(state, leave('c'));
    expect(change).toMatchObject({ syncVersion: 2, total: 0, digest: '000000000000' });
    expect(change?.rows).toEqual([expect.objectContaining({ conv: 'c', version: 2, unread: 0, gone: true })]);
    expect(rowsSince(state, 1).map(({ conv }) => conv)).toEqual(['c']);
    expect(rowsSince(state, 2)).toEqual([]);
  });

  test('[LC1] a member who comes back is a new row and no tombstone', () => {
    const state = built(plainRow({ conv: 'c', unread: 3 }));
    offerRows(state, leave('c'));
    const { change } = offerRows(state, plainRow({ conv: 'c', convRev: 3, memberRev: 3, unread: 1 }));
    expect(change).toMatchObject({ syncVersion: 3, total: 1 });
    expect(state.tombstones).toBe(0);
  });

  test('[SY2] beyond the limit the oldest are dropped and the floor rises to them', () => {
    const state = built(...manyConvs.map((conv) => plainRow({ conv, unread: 3 })));
    for (const conv of manyConvs) offerRows(state, leave(conv));
    expect(state.tombstones).toBeLessThanOrEqual(TOMBSTONES_MAX);
    expect(state.tombstoneFloor).toBeGreaterThan(FIRST_VERSION);
    const kept = rowsSince(state, 0);
    expect(kept).toHaveLength(state.tombstones);
    expect(Math.min(...kept.map(({ version }) => version))).toBe(state.tombstoneFloor + 1);
    // A cursor at the floor gets every tombstone since.
    expect(rowsSince(state, state.tombstoneFloor)).toHaveLength(state.syncVersion - state.tombstoneFloor);
  });

  test('[CN9][SY2] the revs of a dropped tombstone still keep an older row out', () => {
    const state = built(...manyConvs.map((conv) => plainRow({ conv, unread: 3 })));
    for (const conv of manyConvs) offerRows(state, leave(conv));
    expect(held(state, 'c0').version).toBe(0);
    expect(offerRows(state, plainRow({ conv: 'c0', unread: 3 }))).toEqual({ change: null, derive: [] });
    expect(headOf(state).total).toBe(0);
  });

  test('[SY2] a version with more tombstones than the limit is not cut: the floor rises to it', () => {
    const state = built(...manyConvs.map((conv) => plainRow({ conv, unread: 3 })));
    const { change } = offerRows(state, ...manyConvs.map(leave));
    expect(change?.rows).toHaveLength(TOMBSTONES_MAX + 1);
    expect(state).toMatchObject({ syncVersion: 2, tombstoneFloor: 2, tombstones: 0 });
  });
});

describe('large conversations', () => {
  test('[CN8] are behind when their rev is known to be higher, or not known', () => {
    const state = built(
      plainRow({ conv: 'ahead', large: true, convRev: 5 }),
      plainRow({ conv: 'level', large: true, convRev: 5 }),
      plainRow({ conv: 'behind', large: true, convRev: 5 }),
      plainRow({ conv: 'cleared', large: true, convRev: 5, away: true }),
      plainRow({ conv: 'unknown', large: true, convRev: 5 }),
      plainRow({ conv: 'left', large: true, convRev: 5, member: false }),
      plainRow({ conv: 'small', convRev: 5 }),
    );
    const revs = new Map([
      ['ahead', 4],
      ['level', 5],
      ['behind', 6],
      ['cleared', 6],
      ['left', 6],
      ['small', 6],
    ]);
    const large = largeOf(state);
    expect(large).toEqual(['ahead', 'level', 'behind', 'cleared', 'unknown']);
    expect(movedOn(state, large, (conv) => revs.get(conv))).toEqual(['behind', 'cleared', 'unknown']);
  });
});
