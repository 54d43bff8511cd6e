import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  addDigest,
  canonicalRow,
  digestOf,
  formatDigest,
  parseDigest,
  rowDigest,
  subtractDigest,
} from '../../../protocol/index.ts';
import { sha1Hex } from '../../../protocol/sha1.ts';
import { anyRow } from './arbitraries.ts';

test('[SY8] the digest does not depend on the order of rows', () => {
  fc.assert(
    fc.property(fc.array(anyRow), fc.infiniteStream(fc.nat()), (rows, keys) => {
      const shuffled = rows.map((row) => ({ row, key: keys.next().value })).sort((a, b) => a.key - b.key);
      expect(digestOf(shuffled.map(({ row }) => row))).toBe(digestOf(rows));
    }),
  );
});

test('[SY8] exchanging rows one by one gives the digest of a recomputation', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(5), anyRow)), (changes) => {
      const rows = new Map<number, (typeof changes)[number][1]>();
      let digest = 0;
      for (const [place, row] of changes) {
        const held = rows.get(place);
        if (held !== undefined) digest = subtractDigest(digest, rowDigest(held));
        rows.set(place, row);
        digest = addDigest(digest, rowDigest(row));
        expect(digest).toBe(digestOf(rows.values()));
        expect(parseDigest(formatDigest(digest))).toBe(digest);
      }
    }),
  );
});

test('[SY8] the row hash is the first 48 bits of the SHA-1 that everybody has', () => {
  fc.assert(
    fc.property(anyRow, (row) => {
      const hex = createHash('sha1').update(canonicalRow(row), 'utf8').digest('hex');
      expect(sha1Hex(canonicalRow(row))).toBe(hex);
      const listed = row.gone !== true && row.hidden !== true;
      expect(formatDigest(rowDigest(row))).toBe(listed ? hex.slice(0, 12) : '000000000000');
    }),
  );
});
