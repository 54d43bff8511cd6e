import { describe, expect, test } from 'vitest';
import type { SingleCommand } from '../../../client/command.ts';
import { isUnread, overlaid } from '../../../client/overlay.ts';
import type { Row } from '../../../protocol/server-frames.ts';

const row: Row = { conv: 'c1', version: 9, unread: 4, mentions: 1, read_seq: 6, read_epoch: 2, head_seq: 10 };
const ack = (seq: number, readEpoch?: number): SingleCommand => ({ t: 'ack', conv: 'c1', seq, read_epoch: readEpoch });

describe('an ack', () => {
  test('up to the head shows 0, and clears the mark', () => {
    const shown = overlaid({ ...row, marked: true, floor_seq: 8 }, [ack(10, 2)]);
    expect(shown).toMatchObject({ unread: 0, mentions: 0, read_seq: 10, floor_seq: 10, marked: false });
    expect(isUnread(shown)).toBe(false);
  });

  test('below the head moves only the watermark: how many are left the server has to say', () => {
    expect(overlaid(row, [ack(8, 2)])).toMatchObject({ unread: 4, mentions: 1, read_seq: 8 });
  });

  test('[CN8] of a capped row to its end shows 0 and no watermark above the head', () => {
    const shown = overlaid({ ...row, unread: 999, capped: true }, [ack(2 ** 53 - 1, 2)]);
    expect(shown).toMatchObject({ unread: 0, capped: false, read_seq: 10 });
  });

  test('has no effect on a row that is as far, nor on another read_epoch', () => {
    for (const done of [
      { ...row, read_seq: 8 },
      { ...row, read_epoch: 3 },
    ]) {
      expect(overlaid(done, [ack(8, 2)])).toBe(done);
    }
  });

  test('hides nothing that has come since', () => {
    const newer = { ...row, unread: 5, head_seq: 11 };
    expect(overlaid(newer, [ack(10, 2)])).toMatchObject({ unread: 5, read_seq: 10 });
  });

  test('of a row that this device did not hold means the present epoch', () => {
    expect(overlaid(row, [ack(10)])).toMatchObject({ unread: 0 });
  });
});

describe('a mark', () => {
  test('[AK7] sets the flag and raises the read_epoch; with the flag set already it does nothing', () => {
    const mark: SingleCommand = { t: 'mark', conv: 'c1', read_epoch: 2 };
    expect(overlaid(row, [mark])).toMatchObject({ marked: true, read_epoch: 3, unread: 4 });
    const marked = { ...row, marked: true };
    expect(overlaid(marked, [mark])).toBe(marked);
    const done = { ...row, read_epoch: 3 };
    expect(overlaid(done, [mark])).toBe(done);
  });

  test('[AK7] from a seq shows no number that nobody has counted, but that there is something', () => {
    const shown = overlaid({ ...row, unread: 0, mentions: 0, read_seq: 10 }, [
      { t: 'mark', conv: 'c1', from_seq: 4, read_epoch: 2 },
    ]);
    expect(shown).toMatchObject({ unread: 0, read_seq: 3, floor_seq: 3, read_epoch: 3 });
    expect(isUnread(shown)).toBe(true);
  });

  test('[AK7] does not go below a join', () => {
    const joined = { ...row, read_seq: 5, floor_seq: 7 };
    expect(overlaid(joined, [{ t: 'mark', conv: 'c1', from_seq: 2, read_epoch: 2 }])).toMatchObject({ floor_seq: 7 });
  });

  test('and acks after it name the epoch that it makes', () => {
    const after = overlaid(row, [{ t: 'mark', conv: 'c1', read_epoch: 2 }, ack(10, 3)]);
    expect(after).toMatchObject({ marked: false, unread: 0, read_epoch: 3 });
  });
});

test('[LC5] mute, [LC4] hide and [LC3] clear show at once; a newer message brings a conversation back', () => {
  const prefs = (change: { muted?: boolean; hidden?: boolean }): SingleCommand => ({
    t: 'prefs',
    conv: 'c1',
    ...change,
    heldHead: 10,
  });
  const clear: SingleCommand = { t: 'clear', conv: 'c1', up_to_seq: 10 };
  const newer = { ...row, head_seq: 11 };
  expect(overlaid(row, [prefs({ muted: true })])).toMatchObject({ muted: true, hidden: false });
  expect(overlaid(row, [prefs({ hidden: true })])).toMatchObject({ hidden: true });
  expect(overlaid(newer, [prefs({ hidden: true })])).toMatchObject({ hidden: false });
  expect(overlaid(row, [clear])).toMatchObject({ gone: true });
  expect(overlaid(newer, [clear])).toBe(newer);
  // The numbers of a hidden row may be old: they are not brought back before the server has said them anew.
  expect(overlaid({ ...row, hidden: true }, [prefs({ hidden: false })])).toMatchObject({ hidden: true });
});
