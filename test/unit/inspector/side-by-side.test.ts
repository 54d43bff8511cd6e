import { describe, expect, test } from 'vitest';
import { columnsOf, verdictOf } from '../../../inspector/page/side-by-side.ts';
import type { InspectAnswer, InspectedDevice } from '../../../protocol/http.ts';

const SUMS = { total: 3, badge: 3, mentions: 0, digest: 'aaaaaaaaaaaa' };
const WRONG = { total: 42, badge: 42, mentions: 0, digest: 'bbbbbbbbbbbb' };

function device(told: Partial<NonNullable<InspectedDevice['told']>> | null = {}): InspectedDevice {
  const { total, digest } = SUMS;
  return {
    device: 'phone',
    conn: 'n-1',
    codec: 'tidemark.v1.json',
    connected_ms: 1000,
    beat_in_ms: 2000,
    silent_ms: null,
    queued_bytes: 0,
    told: told && { epoch: 'e', sync_version: 7, total, digest, ...told },
  };
}

function answer(with_: Partial<InspectAnswer> = {}): InspectAnswer {
  return {
    user: 'ann',
    truth: { ...SUMS, rows: 2 },
    state: { ...SUMS, epoch: 'e', sync_version: 7, rows: 2, of_rows: SUMS },
    verdicts: { same: 2, behind: 0, ahead: 0, wrong: 0 },
    rows: [],
    left_out: 0,
    devices: [device()],
    nodes: { asked: 1, answered: 1 },
    ...with_,
  };
}

const state = (with_: Partial<NonNullable<InspectAnswer['state']>>): InspectAnswer['state'] => {
  return { ...SUMS, epoch: 'e', sync_version: 7, rows: 2, of_rows: SUMS, ...with_ };
};
const tonesOf = (given: InspectAnswer): string[] => columnsOf(given).map(({ tone }) => tone);

describe('what is said of a user', () => {
  test('all agree, with devices and without', () => {
    expect(verdictOf(answer())).toEqual({ text: 'Truth, state and devices agree.', tone: 'same' });
    expect(tonesOf(answer())).toEqual(['plain', 'same', 'same']);
    expect(verdictOf(answer({ devices: [] })).tone).toBe('same');
  });

  test('a wrong row is wrong in the state, and on the device that was told of it', () => {
    const wrong = answer({
      state: state({ ...WRONG, of_rows: WRONG }),
      verdicts: { same: 1, behind: 0, ahead: 0, wrong: 1 },
      devices: [device(WRONG)],
    });
    expect(verdictOf(wrong)).toEqual({ text: 'The state has 1 conversation wrong.', tone: 'wrong' });
    expect(tonesOf(wrong)).toEqual(['plain', 'wrong', 'wrong']);
    expect(columnsOf(wrong).map(({ cells }) => cells.total?.text)).toEqual(['3', '42, not 3', '42, not 3']);
  });

  test('sums that are not those of the rows are wrong, even where they are those of truth', () => {
    const torn = answer({ state: state({ of_rows: WRONG }), verdicts: { same: 1, behind: 0, ahead: 0, wrong: 1 } });
    const [, { cells, note }] = columnsOf(torn) as [unknown, ReturnType<typeof columnsOf>[number]];
    expect(cells.total).toEqual({ text: '3, but its rows make 42', tone: 'wrong' });
    expect(note).toContain('sums that are not those of its rows (total, badge, digest)');
  });

  test('[SY5] what is behind is not called wrong, in the state and on a device', () => {
    const lagging = answer({
      truth: { ...SUMS, total: 4, badge: 4, digest: 'cccccccccccc', rows: 2 },
      verdicts: { same: 1, behind: 1, ahead: 0, wrong: 0 },
    });
    expect(verdictOf(lagging)).toEqual({ text: 'The state has 1 conversation behind.', tone: 'behind' });
    expect(tonesOf(lagging).slice(0, 2)).toEqual(['plain', 'behind']);

    const waiting = answer({ devices: [device({ sync_version: 6, total: 2, digest: 'dddddddddddd' })] });
    expect(tonesOf(waiting)).toEqual(['plain', 'same', 'behind']);
    expect(verdictOf(waiting).text).toBe('Truth and state agree; a device is on its way there.');
    expect(tonesOf(answer({ devices: [device({ epoch: 'before' })] }))).toEqual(['plain', 'same', 'behind']);
    expect(tonesOf(answer({ devices: [device(null)] }))).toEqual(['plain', 'same', 'behind']);
  });

  test('a device level with the state is not blamed for what the state has yet to hear', () => {
    const lagging = answer({
      truth: { ...SUMS, total: 4, badge: 4, digest: 'cccccccccccc', rows: 2 },
      verdicts: { same: 1, behind: 1, ahead: 0, wrong: 0 },
    });
    expect(tonesOf(lagging)).toEqual(['plain', 'behind', 'behind']);
  });

  test('a device that was told something else at the same version is wrong', () => {
    const told = answer({ devices: [device(WRONG)] });
    expect(tonesOf(told)).toEqual(['plain', 'same', 'wrong']);
    expect(verdictOf(told).text).toBe('phone: was told something else than the state now holds at this version');
  });

  test('nothing held is no fault; nobody known is said so', () => {
    expect(verdictOf(answer({ state: null, devices: [] })).tone).toBe('behind');
    const nobody = answer({ truth: { ...SUMS, total: 0, rows: 0 }, state: null, devices: [] });
    expect(verdictOf(nobody).text).toBe('Truth knows no conversation of this user.');
  });
});
