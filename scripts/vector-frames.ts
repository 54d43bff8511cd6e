// Example frames for protocol/vectors/messages.v1.json.
import type { ClientFrame, Row, ServerFrame } from '../protocol/index.ts';

export type FrameCase = { name: string; why: string; frame: ClientFrame | ServerFrame };

const max = Number.MAX_SAFE_INTEGER;
const digest = '0a1b2c3d4e5f';
const epoch = 'k3Vq9xTz';
const row: Row = {
  conv: 'c1',
  version: 41,
  unread: 3,
  mentions: 0,
  read_seq: 7,
  read_epoch: 0,
  head_seq: 10,
};
const sums = { total: 3, badge: 3, mentions: 0, digest };
const delta: ServerFrame = {
  t: 'delta',
  epoch,
  base_version: 40,
  sync_version: 41,
  rows: [row],
  op: 'message',
  ...sums,
};

export const clientCases: FrameCase[] = [
  { name: 'first hello', why: 'SY2', frame: { t: 'hello', token: 'a.b.c', device: 'phone', cursor: null } },
  {
    name: 'hello with all fields',
    why: 'SY6',
    frame: {
      t: 'hello',
      token: 'a.b.c',
      device: 'phone',
      cursor: { epoch, sync_version: 41 },
      digest,
      page: 'token-2',
      max_rows: 50,
      attempt: 7,
    },
  },
  {
    name: 'hello with attempt and nothing between',
    why: 'MP2',
    frame: { t: 'hello', token: 'a.b.c', device: 'phone', cursor: null, attempt: 1 },
  },
  {
    name: 'ack of two conversations',
    why: 'AK1',
    frame: {
      t: 'ack',
      id: 1,
      items: [
        { conv: 'c1', seq: 41 },
        { conv: 'c2', seq: 7, read_epoch: 2 },
      ],
    },
  },
  { name: 'ack by message_id', why: 'AK9', frame: { t: 'ack', id: 2, items: [{ conv: 'c1', message_id: 'm-9' }] } },
  {
    name: 'ack of a capped row to its end',
    why: 'CN8',
    frame: { t: 'ack', id: 3, items: [{ conv: 'c1', seq: max }] },
  },
  { name: 'foreground', why: 'SY7', frame: { t: 'sync', cursor: { epoch, sync_version: 41 }, digest } },
  { name: 'sync without a cursor', why: 'SY2', frame: { t: 'sync', cursor: null } },
  { name: 'mark from a seq', why: 'AK7', frame: { t: 'mark', id: 4, conv: 'c1', from_seq: 40, read_epoch: 0 } },
  { name: 'mark the conversation', why: 'AK7', frame: { t: 'mark', id: 5, conv: 'c1' } },
  { name: 'mute', why: 'LC5', frame: { t: 'prefs', id: 6, conv: 'c1', muted: true } },
  { name: 'unhide', why: 'LC4', frame: { t: 'prefs', id: 7, conv: 'c1', hidden: false } },
  { name: 'clear', why: 'LC3', frame: { t: 'clear', id: 8, conv: 'c1', up_to_seq: 300 } },
  { name: 'read all', why: 'AK8', frame: { t: 'read_all', id: 9, epoch, sync_version: 70_000 } },
  { name: 'new token', why: 'DT5', frame: { t: 'auth', token: 'd.e.f' } },
  { name: 'ping', why: 'DT6', frame: { t: 'ping' } },
];

export const serverCases: FrameCase[] = [
  {
    name: 'welcome with nothing new',
    why: 'SY2',
    frame: {
      t: 'welcome',
      conn: 'n1-17',
      user: 'u1',
      epoch,
      sync_version: 41,
      mode: 'noop',
      ...sums,
      heartbeat_ms: 25_000,
      expires_at: 1_790_000_000_000,
    },
  },
  {
    name: 'synced with a snapshot after a loss of state',
    why: 'SY10',
    frame: {
      t: 'synced',
      epoch: 'p0Lw8sRa',
      sync_version: 1,
      mode: 'snapshot',
      reason: 'epoch',
      total: 12,
      badge: 9,
      mentions: 1,
      digest,
      expires_at: 1_790_000_000_000,
    },
  },
  {
    name: 'first page',
    why: 'SY6',
    frame: { t: 'snapshot', epoch, sync_version: 41, page: 1, rows: [row], next: 'token-2', end: false, ...sums },
  },
  {
    name: 'last page of a user without conversations',
    why: 'SY6',
    frame: {
      t: 'snapshot',
      epoch,
      sync_version: 0,
      page: 1,
      rows: [],
      end: true,
      total: 0,
      badge: 0,
      mentions: 0,
      digest: '000000000000',
    },
  },
  { name: 'one message', why: 'SY3', frame: delta },
  {
    name: 'a read row: everything behind head_seq is left out',
    why: 'MP2',
    frame: {
      ...delta,
      rows: [{ ...row, unread: 0, read_seq: 10 }],
      op: 'read',
      total: 0,
      badge: 0,
      digest: '000000000001',
    },
  },
  {
    name: 'all flags, a floor above the watermark, an older version',
    why: 'MP3',
    frame: {
      ...delta,
      op: 'merged',
      rows: [
        {
          conv: '群-1 😀',
          version: 39,
          unread: 999,
          mentions: 2,
          read_seq: 5000,
          read_epoch: 3,
          head_seq: 9000,
          floor_seq: 7000,
          muted: true,
          marked: true,
          hidden: true,
          capped: true,
        },
      ],
      total: 999,
      badge: 2,
      mentions: 2,
    },
  },
  {
    name: 'tombstone',
    why: 'LC2',
    frame: {
      ...delta,
      op: 'leave',
      rows: [{ ...row, unread: 0, gone: true }],
      total: 0,
      badge: 0,
    },
  },
  {
    name: 'numbers up to 2^53-1',
    why: 'MP1',
    frame: {
      ...delta,
      base_version: max - 1,
      sync_version: max,
      rows: [{ ...row, version: max, unread: max, read_seq: 0, head_seq: max }],
      total: max,
      badge: max,
    },
  },
  {
    name: 'acked, all statuses',
    why: 'AK2',
    frame: {
      t: 'acked',
      id: 1,
      items: [
        { conv: 'c1', status: 'applied', read_seq: 41, unread: 0 },
        { conv: 'c2', status: 'stale', read_seq: 7 },
        { conv: 'c3', status: 'clamped', read_seq: 10, unread: 0 },
        { conv: 'c4', status: 'unknown' },
      ],
      sync_version: 42,
      total: 0,
      digest,
    },
  },
  { name: 'heartbeat', why: 'DT6', frame: { t: 'hb', epoch, sync_version: 41, total: 3, digest } },
  { name: 'new expiry', why: 'DT5', frame: { t: 'auth_ok', expires_at: 1_790_000_600_000 } },
  { name: 'draining', why: 'DT6', frame: { t: 'bye', code: 4000, reason: 'draining', retry_ms: 1200 } },
  { name: 'replaced', why: 'DT6', frame: { t: 'bye', code: 4404, reason: 'replaced' } },
  {
    name: 'refused field',
    why: 'DT5',
    frame: { t: 'error', id: 4, code: 'invalid_field', message: 'from_seq must be an integer from 0 to 2^53-1' },
  },
  {
    name: 'try again',
    why: 'DT5',
    frame: { t: 'error', code: 'rate_limited', message: 'too many frames', retry_ms: 500 },
  },
];
