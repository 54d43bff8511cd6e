import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  addDigest,
  canonicalRow,
  digestOf,
  formatDigest,
  parseDigest,
  rowDigest,
  subtractDigest,
} from '../../../protocol/index.ts';
import { sha1First48, sha1Hex } from '../../../protocol/sha1.ts';

const row = { conv: 'c1', unread: 3, mentions: 1, read_epoch: 2, read_seq: 41 };
const last = 2 ** 48 - 1;

describe('SHA-1', () => {
  test.each([
    ['', 'da39a3ee5e6b4b0d3255bfef95601890afd80709'],
    ['abc', 'a9993e364706816aba3e25717850c26c9cd0d89d'],
    ['abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq', '84983e441c3bd26ebaae4aa1f95129e5e54670f1'],
    ['a'.repeat(100_000), createHash('sha1').update('a'.repeat(100_000)).digest('hex')],
  ])('[SY8] %#: the published values', (text, hex) => {
    expect(sha1Hex(text)).toBe(hex);
  });

  test('[SY8] every length over the borders of blocks, in all widths of UTF-8', () => {
    for (let length = 0; length < 200; length++) {
      for (const character of ['x', 'é', '漢', '😀', '\ud800']) {
        const text = character.repeat(length);
        const hex = createHash('sha1').update(text).digest('hex');
        expect(sha1Hex(text)).toBe(hex);
        expect(sha1First48(text)).toBe(Number.parseInt(hex.slice(0, 12), 16));
      }
    }
  });
});

describe('rows', () => {
  test('[SY8] the canonical text: numbers, flags in the order m k c, the id last', () => {
    expect(canonicalRow(row)).toBe('3|1|2|41||c1');
    expect(canonicalRow({ ...row, capped: true, marked: true, muted: true })).toBe('3|1|2|41|mkc|c1');
    expect(canonicalRow({ ...row, marked: true, muted: false })).toBe('3|1|2|41|k|c1');
  });

  test('[SY8] no id can look like another row', () => {
    expect(rowDigest({ ...row, conv: '2|41||c1' })).not.toBe(rowDigest(row));
    expect(canonicalRow({ ...row, conv: 'k|c1' })).not.toBe(canonicalRow({ ...row, marked: true }));
  });

  test('[SY8][CN3] tombstones and hidden rows add nothing', () => {
    expect(rowDigest({ ...row, gone: true })).toBe(0);
    expect(rowDigest({ ...row, hidden: true })).toBe(0);
    expect(digestOf([row, { ...row, conv: 'c2', gone: true }])).toBe(rowDigest(row));
  });
});

describe('sums', () => {
  test('[SY8] addition and subtraction stay within 48 bits', () => {
    expect(addDigest(last, 1)).toBe(0);
    expect(addDigest(last, last)).toBe(last - 1);
    expect(subtractDigest(0, 1)).toBe(last);
    expect(subtractDigest(addDigest(last, 77), 77)).toBe(last);
  });

  test('[SY8] twelve lower-case digits, leading zeros kept', () => {
    expect(formatDigest(0)).toBe('000000000000');
    expect(formatDigest(last)).toBe('ffffffffffff');
    expect(parseDigest(formatDigest(0xabc))).toBe(0xabc);
  });
});
