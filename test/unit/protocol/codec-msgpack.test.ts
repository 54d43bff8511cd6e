import { pack, Unpackr } from 'msgpackr';
import { describe, expect, test } from 'vitest';
import { jsonCodec, limits, msgpackCodec } from '../../../protocol/index.ts';
import type { ClientFrame, Delta, Row, ServerFrame } from '../../../protocol/index.ts';

const bytesOf = (frame: ClientFrame | ServerFrame): Uint8Array => msgpackCodec.encode(frame) as Uint8Array;
const fieldsOf = (frame: ClientFrame | ServerFrame): unknown =>
  new Unpackr({ useRecords: false, int64AsType: 'number' }).unpack(bytesOf(frame));
const fromHex = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'));

const epoch = 'k3Vq9xTz';
const digest = 'fedcba987654';
const row: Row = {
  conv: 'conv-00017',
  version: 12_346,
  unread: 3,
  mentions: 0,
  read_seq: 4711,
  read_epoch: 0,
  head_seq: 4714,
};
const delta: Delta = {
  t: 'delta',
  epoch,
  base_version: 12_345,
  sync_version: 12_346,
  rows: [row],
  op: 'message',
  total: 27,
  badge: 27,
  mentions: 0,
  digest,
};

describe('size', () => {
  test('[MP2] a one-row delta with its digest has at most 48 bytes', () => {
    expect(bytesOf(delta)).toHaveLength(42);
    const later = {
      ...delta,
      base_version: 2 ** 31,
      sync_version: 2 ** 31 + 1,
      rows: [{ ...row, version: 2 ** 31 + 1 }],
    };
    const mention = { ...delta, total: 300, badge: 280, mentions: 2, rows: [{ ...row, unread: 2, mentions: 1 }] };
    expect(bytesOf(later).length).toBeLessThanOrEqual(48);
    expect(bytesOf(mention).length).toBeLessThanOrEqual(48);
  });

  test('[SY7] a foreground check with nothing new has at most 64 bytes each way', () => {
    const sync: ClientFrame = { t: 'sync', cursor: { epoch, sync_version: 2 ** 31 }, digest };
    const { rows: _rows, base_version: _base, op: _op, t: _t, ...sums } = delta;
    const synced: ServerFrame = { t: 'synced', mode: 'noop', expires_at: 1_790_000_000_000, ...sums };
    expect(bytesOf(sync).length).toBeLessThanOrEqual(64);
    expect(bytesOf({ ...synced, sync_version: 2 ** 31, badge: 3, mentions: 1 }).length).toBeLessThanOrEqual(64);
  });
});

describe('layout', () => {
  test('[MP1][MP3] a delta: op in the type, versions and read_seq as differences, six bytes of digest', () => {
    expect(fieldsOf(delta)).toEqual([32, epoch, 12_345, 1, [['conv-00017', 4714, 3, 3]], fromHex(digest), 27]);
  });

  test('[MP2][MP3] a row says what differs from zero, in its place', () => {
    const rowFields = (more: Partial<Row>): unknown =>
      (fieldsOf({ ...delta, rows: [{ ...row, ...more }] }) as unknown[][])[4]?.[0];
    expect(rowFields({ unread: 0, read_seq: 4714 })).toEqual(['conv-00017', 4714]);
    expect(rowFields({ unread: 0 })).toEqual(['conv-00017', 4714, 3]);
    expect(rowFields({ version: 12_340 })).toEqual(['conv-00017', 4714, 3, 3, 0, 6]);
    expect(rowFields({ muted: true, capped: true })).toEqual(['conv-00017', 4714, 3, 3, 0, 0, 9]);
    expect(rowFields({ mentions: 1 })).toEqual(['conv-00017', 4714, 3, 3, 1]);
    expect(rowFields({ read_epoch: 2 })).toEqual(['conv-00017', 4714, 3, 3, 0, 0, 0, 2]);
    expect(rowFields({ floor_seq: 4713 })).toEqual(['conv-00017', 4714, 3, 3, 0, 0, 0, 0, 2]);
    expect(rowFields({ floor_seq: 4711 })).toEqual(['conv-00017', 4714, 3, 3]);
  });

  test('[MP1] 53-bit numbers are integers of 64 bits, to the last one', () => {
    const frame: ClientFrame = { t: 'ack', id: Number.MAX_SAFE_INTEGER, items: [{ conv: 'c', seq: 2 ** 32 }] };
    expect(Buffer.from(bytesOf(frame)).toString('hex')).toBe(
      '9302' + 'cf001fffffffffffff' + '91' + '92a163' + 'cf0000000100000000',
    );
    expect(msgpackCodec.decodeClient(bytesOf(frame))).toEqual({ ok: true, frame });
  });

  test('[AK9] an item is told by its type: a string is a message_id, an integer a seq', () => {
    const frame: ClientFrame = {
      t: 'ack',
      id: 1,
      items: [
        { conv: 'c', message_id: '41' },
        { conv: 'c', seq: 41, read_epoch: 2 },
      ],
    };
    expect(fieldsOf(frame)).toEqual([
      2,
      1,
      [
        ['c', '41'],
        ['c', 41, 2],
      ],
    ]);
  });

  test('[SY3] what a caller keeps is its own: the next encoding does not touch it', () => {
    const first = bytesOf(delta);
    const copy = Uint8Array.from(first);
    bytesOf({ ...delta, epoch: 'zzzzzzzz', total: 1 });
    expect(first).toEqual(copy);
  });

  test('[SY3] a snapshot far larger than the first buffer comes back whole', () => {
    const rows = Array.from({ length: 200 }, (_, i) => ({ ...row, conv: `${'漢'.repeat(40)}${i}`, version: i }));
    const frame: ServerFrame = {
      t: 'snapshot',
      epoch,
      sync_version: 500,
      page: 3,
      rows,
      end: true,
      total: 600,
      badge: 600,
      mentions: 0,
      digest,
    };
    expect(msgpackCodec.decodeServer(bytesOf(frame))).toEqual({ ok: true, frame });
  });
});

describe('what a newer peer may add', () => {
  test('[MP2] elements behind the known ones are skipped: in the frame, in a row, in an item', () => {
    const later = [[1, 2], { a: [null] }, 1.5, 'x'.repeat(300), Buffer.alloc(70_000), new Date(0), 2n ** 60n];
    const digestBytes = Buffer.from(digest, 'hex');
    const frame = [32, epoch, 12_345, 1, [['conv-00017', 4714, 3, 3, 0, 0, 0, 0, 0, ...later]], digestBytes, 27, 0, 0];
    expect(msgpackCodec.decodeServer(pack([...frame, ...later]))).toEqual({ ok: true, frame: delta });
    const ack = pack([2, 1, [['c', 41, null, ...later]], ...later]);
    expect(msgpackCodec.decodeClient(ack)).toEqual({
      ok: true,
      frame: { t: 'ack', id: 1, items: [{ conv: 'c', seq: 41 }] },
    });
  });

  test('[MP2] flag bits that are not known are skipped', () => {
    const bytes = pack([
      32,
      epoch,
      12_345,
      1,
      [['conv-00017', 4714, 3, 3, 0, 0, 0xff01]],
      Buffer.from(digest, 'hex'),
      27,
    ]);
    expect(msgpackCodec.decodeServer(bytes)).toEqual({
      ok: true,
      frame: { ...delta, rows: [{ ...row, muted: true }] },
    });
  });

  test('[DT5] an op or status that is not known is refused by name', () => {
    const fields = [epoch, 1, 1, [], Buffer.from(digest, 'hex'), 27];
    expect(msgpackCodec.decodeServer(pack([42, ...fields]))).toMatchObject({ fatal: false, field: 'op' });
    expect(msgpackCodec.decodeServer(pack([20, 1, [['c', 4]], 1, Buffer.alloc(6), 0]))).toMatchObject({
      fatal: false,
      field: 'items[0].status',
    });
  });
});

describe('what is refused', () => {
  test.each([
    ['an array', 'dd ffffffff'],
    ['items', '93 02 11 dd ffffffff'],
    ['items that each are an array', '93 02 11 dc ffff 9f'],
    ['a string', '92 08 db ffffffff'],
    ['a binary', '94 03 c0 00 c6 ffffffff'],
    ['an element to skip', '92 09 dd ffffffff'],
    ['a map to skip', '92 09 df ffffffff'],
    ['an extension to skip', '92 09 c9 ffffffff 01'],
  ])('[MP4] %s that claims more than there is makes nothing', (_what, hex) => {
    const before = process.memoryUsage();
    for (let i = 0; i < 200; i++) {
      expect(msgpackCodec.decodeClient(fromHex(hex))).toMatchObject({ ok: false, fatal: true });
    }
    const after = process.memoryUsage();
    const bytes = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
    expect(bytes).toBeLessThan(64 * 2 ** 20);
  });

  test('[MP4] nesting as deep as a frame is long is passed over', () => {
    const deep = Buffer.concat([fromHex('92 09'), Buffer.alloc(limits.frameBytesMax, 0x91), fromHex('c0')]);
    expect(msgpackCodec.decodeClient(deep)).toEqual({ ok: true, frame: { t: 'ping' } });
    expect(msgpackCodec.decodeClient(deep.subarray(0, -1))).toMatchObject({ ok: false, fatal: true });
    expect(msgpackCodec.decodeClient(deep.subarray(2))).toMatchObject({ ok: false, fatal: true });
  });

  test('[MP4] a field of another type is named, as in JSON, and the id is kept', () => {
    const wrong: [unknown[], string, number | undefined][] = [
      [[2, 7, [['c', 1.5]]], 'items[0].seq', 7],
      [
        [
          2,
          7,
          [
            ['c', 1],
            [9, 1],
          ],
        ],
        'items[1].conv',
        7,
      ],
      [[2, 7, 'c'], 'items', 7],
      [[2, 7, [7]], 'items[0]', 7],
      [[2, 7], 'items', 7],
      [[2, 7, [['c']]], 'items[0].seq', 7],
      [[2, 7, Array.from({ length: 201 }, () => ['c', 1])], 'items', 7],
      [[4, 7, 'c', -1], 'from_seq', 7],
      [[5, 7, 'c', 1], 'muted', 7],
      [[5, 7, 'c'], 'muted', 7],
      [[6, 7, ''], 'conv', 7],
      [[6, 7, 'x'.repeat(129)], 'conv', 7],
      [[1, 'token', 'phone', null, null, null, null, 0], 'max_rows', undefined],
      [[3, 'epoch'], 'cursor.sync_version', undefined],
      [[2, 'seven', []], 'id', undefined],
    ];
    for (const [fields, field, id] of wrong) {
      expect(msgpackCodec.decodeClient(pack(fields))).toMatchObject({
        ok: false,
        fatal: false,
        code: 'invalid_field',
        field,
      });
      expect((msgpackCodec.decodeClient(pack(fields)) as { id?: number }).id).toBe(id);
    }
  });

  test('[MP3] a difference that leads below 0 or above 2^53-1 is refused', () => {
    const fields = (rows: unknown[]): unknown[] => [32, epoch, 5, 1, rows, Buffer.alloc(6), 0];
    expect(msgpackCodec.decodeServer(pack(fields([['c', 4, 5]])))).toMatchObject({ field: 'rows[0].read_seq' });
    expect(msgpackCodec.decodeServer(pack(fields([['c', 4, 0, 0, 0, 7]])))).toMatchObject({ field: 'rows[0].version' });
    expect(msgpackCodec.decodeServer(pack([32, epoch, 5, -6, [], Buffer.alloc(6), 0]))).toMatchObject({
      field: 'sync_version',
    });
  });
});

test('[DT5] the other kind of WebSocket message is fatal on both subprotocols', () => {
  expect(jsonCodec.decodeClient(Buffer.from('{"t":"ping"}'))).toMatchObject({ fatal: true });
  expect(msgpackCodec.decodeClient('{"t":"ping"}')).toMatchObject({ fatal: true });
});
