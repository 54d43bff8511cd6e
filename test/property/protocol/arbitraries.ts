// Generators of ids, rows and whole frames, in the normal form of the wire: flags that are false and a floor that equals
// the watermark are left out.
import fc from 'fast-check';
import { ackStatuses, ops, syncModes, syncReasons, utf8Length } from '../../../protocol/index.ts';
import type { AckItem, ClientFrame, Cursor, Row, ServerFrame } from '../../../protocol/index.ts';

const numberMax = Number.MAX_SAFE_INTEGER;

/** Small numbers, borders of the MessagePack forms, and anything up to 2^53-1. */
const anyCount = fc.oneof(
  fc.nat(40),
  fc.constantFrom(127, 128, 255, 256, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32, numberMax - 1, numberMax),
  fc.maxSafeNat(),
);
const anyId = fc
  .oneof(fc.string({ minLength: 1, maxLength: 24 }), fc.string({ unit: 'grapheme', minLength: 1, maxLength: 24 }))
  .filter((id) => utf8Length(id) >= 1 && utf8Length(id) <= 128);
const anyDigest = fc.maxSafeNat().map((n) => (n % 2 ** 48).toString(16).padStart(12, '0'));

const anyCursor: fc.Arbitrary<Cursor | null> = fc.option(fc.record({ epoch: anyId, sync_version: anyCount }));
const anyToken = fc.string({ minLength: 1, maxLength: 300 });
const anyPageToken = fc.string({ minLength: 1, maxLength: 120 });
const flag = fc.constant(true as const);

export const anyRow: fc.Arbitrary<Row> = fc
  .record(
    {
      conv: anyId,
      version: anyCount,
      unread: anyCount,
      mentions: anyCount,
      read_seq: anyCount,
      read_epoch: anyCount,
      head_seq: anyCount,
      floor_seq: anyCount,
      muted: flag,
      marked: flag,
      hidden: flag,
      capped: flag,
      gone: flag,
    },
    { requiredKeys: ['conv', 'version', 'unread', 'mentions', 'read_seq', 'read_epoch', 'head_seq'] },
  )
  .map((row) => {
    if (row.floor_seq !== row.read_seq) return row;
    const { floor_seq: _same, ...rest } = row;
    return rest;
  });

const anyAckItem: fc.Arbitrary<AckItem> = fc.oneof(
  fc.record({ conv: anyId, seq: anyCount, read_epoch: anyCount }, { requiredKeys: ['conv', 'seq'] }),
  fc.record({ conv: anyId, message_id: anyId, read_epoch: anyCount }, { requiredKeys: ['conv', 'message_id'] }),
);

export const anyClientFrame: fc.Arbitrary<ClientFrame> = fc.oneof(
  fc.record(
    {
      t: fc.constant('hello' as const),
      token: anyToken,
      device: anyId,
      cursor: anyCursor,
      digest: anyDigest,
      page: anyPageToken,
      max_rows: anyCount.filter((n) => n > 0),
      attempt: anyCount,
    },
    { requiredKeys: ['t', 'token', 'device', 'cursor'] },
  ),
  fc.record({ t: fc.constant('ack' as const), id: anyCount, items: fc.array(anyAckItem, { maxLength: 20 }) }),
  fc.record(
    { t: fc.constant('sync' as const), cursor: anyCursor, digest: anyDigest },
    { requiredKeys: ['t', 'cursor'] },
  ),
  fc.record(
    { t: fc.constant('mark' as const), id: anyCount, conv: anyId, from_seq: anyCount, read_epoch: anyCount },
    { requiredKeys: ['t', 'id', 'conv'] },
  ),
  fc
    .record(
      { t: fc.constant('prefs' as const), id: anyCount, conv: anyId, muted: fc.boolean(), hidden: fc.boolean() },
      { requiredKeys: ['t', 'id', 'conv'] },
    )
    .filter((frame) => frame.muted !== undefined || frame.hidden !== undefined),
  fc.record(
    { t: fc.constant('clear' as const), id: anyCount, conv: anyId, up_to_seq: anyCount },
    { requiredKeys: ['t', 'id', 'conv'] },
  ),
  fc.record(
    { t: fc.constant('read_all' as const), id: anyCount, epoch: anyId, sync_version: anyCount },
    { requiredKeys: ['t', 'id', 'sync_version'] },
  ),
  fc.record({ t: fc.constant('auth' as const), token: anyToken }),
  fc.record({ t: fc.constant('ping' as const) }),
);

const sums = { total: anyCount, badge: anyCount, mentions: anyCount, digest: anyDigest };
const answer = {
  epoch: anyId,
  sync_version: anyCount,
  mode: fc.constantFrom(...syncModes),
  reason: fc.constantFrom(...syncReasons),
  ...sums,
  expires_at: anyCount,
};
const answerKeys = ['epoch', 'sync_version', 'mode', 'total', 'badge', 'mentions', 'digest', 'expires_at'] as const;
const anyText = fc.string({ maxLength: 60 });

export const anyServerFrame: fc.Arbitrary<ServerFrame> = fc.oneof(
  fc.record(
    { t: fc.constant('welcome' as const), conn: anyId, user: anyId, ...answer, heartbeat_ms: fc.integer({ min: 1 }) },
    { requiredKeys: ['t', 'conn', 'user', ...answerKeys, 'heartbeat_ms'] },
  ),
  fc.record({ t: fc.constant('synced' as const), ...answer }, { requiredKeys: ['t', ...answerKeys] }),
  fc.record(
    {
      t: fc.constant('snapshot' as const),
      epoch: anyId,
      sync_version: anyCount,
      page: anyCount.filter((n) => n > 0),
      rows: fc.array(anyRow, { maxLength: 20 }),
      next: anyPageToken,
      end: fc.boolean(),
      ...sums,
    },
    { requiredKeys: ['t', 'epoch', 'sync_version', 'page', 'rows', 'end', 'total', 'badge', 'mentions', 'digest'] },
  ),
  fc.record({
    t: fc.constant('delta' as const),
    epoch: anyId,
    base_version: anyCount,
    sync_version: anyCount,
    rows: fc.array(anyRow, { maxLength: 20 }),
    op: fc.constantFrom(...ops),
    ...sums,
  }),
  fc.record({
    t: fc.constant('acked' as const),
    id: anyCount,
    items: fc.array(
      fc.record(
        { conv: anyId, status: fc.constantFrom(...ackStatuses), read_seq: anyCount, unread: anyCount },
        { requiredKeys: ['conv', 'status'] },
      ),
      { maxLength: 20 },
    ),
    sync_version: anyCount,
    total: anyCount,
    digest: anyDigest,
  }),
  fc.record({
    t: fc.constant('hb' as const),
    epoch: anyId,
    sync_version: anyCount,
    total: anyCount,
    digest: anyDigest,
  }),
  fc.record({ t: fc.constant('auth_ok' as const), expires_at: anyCount }),
  fc.record(
    { t: fc.constant('bye' as const), code: fc.integer({ min: 1000, max: 4999 }), reason: anyText, retry_ms: anyCount },
    { requiredKeys: ['t', 'code', 'reason'] },
  ),
  fc.record(
    { t: fc.constant('error' as const), id: anyCount, code: anyId, message: anyText, retry_ms: anyCount },
    { requiredKeys: ['t', 'code', 'message'] },
  ),
);
