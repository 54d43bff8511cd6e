import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonCodec, limits } from '../../../protocol/index.ts';
import type { Row, Snapshot } from '../../../protocol/index.ts';
import { msgpackCodec } from '../../../protocol/codec-msgpack.ts';
import { rowBytesMax } from '../../../src/core/row-bytes.ts';

const count = fc.oneof(
  fc.nat(),
  fc.maxSafeNat(),
  fc.constantFrom(0, 9999, 10_000, 99_999_999, 100_000_000, 2 ** 53 - 1),
);
const flag = fc.constantFrom(undefined, true, false);
const row: fc.Arbitrary<Row> = fc
  .record({
    conv: fc.oneof(
      fc.string({ minLength: 1, unit: 'binary' }),
      fc.constantFrom('\u0001'.repeat(128), '"\\'.repeat(64), '群'.repeat(42)),
    ),
    version: count,
    unread: count,
    mentions: count,
    read_seq: count,
    read_epoch: count,
    head_seq: count,
    floor_seq: fc.option(count, { nil: undefined }),
    muted: flag,
    marked: flag,
    hidden: flag,
    capped: flag,
    gone: flag,
  })
  .map((given) => JSON.parse(JSON.stringify(given)) as Row);

const page = (rows: Row[]): Snapshot => ({
  t: 'snapshot',
  epoch: 'abcdefgh',
  sync_version: 2 ** 53 - 1,
  page: 2 ** 53 - 1,
  rows,
  end: true,
  total: 0,
  badge: 0,
  mentions: 0,
  digest: '0123456789ab',
});

const lengthOf = (encoded: string | Uint8Array): number => Buffer.from(encoded as Uint8Array).length;

test('no codec takes more bytes for a row than it is held to take', () => {
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 4 }), (rows) => {
      const bound = rows.reduce((sum, one) => sum + rowBytesMax(one), 0);
      for (const codec of [jsonCodec, msgpackCodec]) {
        expect(lengthOf(codec.encode(page(rows))) - lengthOf(codec.encode(page([])))).toBeLessThanOrEqual(bound);
      }
    }),
  );
});

test('an ordinary page of the default size is not cut for its bytes', () => {
  const plain: Row = {
    conv: 'conversation-of-an-ordinary-length',
    version: 1234,
    unread: 12,
    mentions: 1,
    read_seq: 4711,
    read_epoch: 0,
    head_seq: 4723,
  };
  expect(limits.pageRowsMax * rowBytesMax(plain)).toBeLessThan(limits.frameBytesMax / 1.5);
});
