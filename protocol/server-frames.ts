// Frames from server to client (SPEC §7), one schema each, told apart by `t`.
import { count, digestText, id } from './ids.ts';
import { limits } from './limits.ts';
import { array, boolean, integer, literal, object, oneOf, optional, text } from './schema.ts';
import type { Infer } from './schema.ts';

export type Row = Infer<typeof row>;
export type Op = Infer<typeof op>;
export type SyncMode = Infer<typeof syncMode>;
export type SyncReason = Infer<typeof syncReason>;
export type AckStatus = Infer<typeof ackStatus>;
export type AckedItem = Infer<typeof ackedItem>;
export type Welcome = Infer<typeof welcome>;
export type Synced = Infer<typeof synced>;
export type Snapshot = Infer<typeof snapshot>;
export type Delta = Infer<typeof delta>;
export type Acked = Infer<typeof acked>;
export type Hb = Infer<typeof hb>;
export type AuthOk = Infer<typeof authOk>;
export type Bye = Infer<typeof bye>;
export type ErrorFrame = Infer<typeof error>;
export type ServerFrame = Welcome | Synced | Snapshot | Delta | Acked | Hb | AuthOk | Bye | ErrorFrame;

/** In the order of their wire codes: a new value goes to the end. */
export const ops = ['message', 'recall', 'edit', 'read', 'mark', 'prefs', 'clear', 'join', 'leave', 'merged'] as const;
export const syncModes = ['noop', 'delta', 'snapshot'] as const;
export const syncReasons = ['first', 'epoch', 'ahead', 'floor', 'digest', 'requested'] as const;
export const ackStatuses = ['applied', 'stale', 'clamped', 'unknown'] as const;

export const op = oneOf(...ops);
export const syncMode = oneOf(...syncModes);
export const syncReason = oneOf(...syncReasons);
export const ackStatus = oneOf(...ackStatuses);

/**
 * One user's state of one conversation, absolute, at the sync_version that last changed it (SY3).
 * `floor_seq` is left out when it equals `read_seq`; flags that are false may be left out. A tombstone (`gone`) carries
 * zeros; it tells only that the conversation is no longer listed.
 */
export const row = object({
  conv: id,
  version: count,
  unread: count,
  mentions: count,
  read_seq: count,
  read_epoch: count,
  head_seq: count,
  floor_seq: optional(count),
  muted: optional(boolean),
  marked: optional(boolean),
  hidden: optional(boolean),
  capped: optional(boolean),
  gone: optional(boolean),
});

export const ackedItem = object({
  conv: id,
  status: ackStatus,
  read_seq: optional(count),
  unread: optional(count),
});

const sums = { total: count, badge: count, mentions: count, digest: digestText };

const welcome = object({
  t: literal('welcome'),
  conn: id,
  user: id,
  epoch: id,
  sync_version: count,
  mode: syncMode,
  reason: optional(syncReason),
  ...sums,
  heartbeat_ms: integer(1, Number.MAX_SAFE_INTEGER),
  expires_at: count,
});
const synced = object({
  t: literal('synced'),
  epoch: id,
  sync_version: count,
  mode: syncMode,
  reason: optional(syncReason),
  ...sums,
  expires_at: count,
});
const snapshot = object({
  t: literal('snapshot'),
  epoch: id,
  sync_version: count,
  page: integer(1, Number.MAX_SAFE_INTEGER),
  rows: array(row, limits.pageRowsMax),
  next: optional(text(1, limits.pageTokenBytesMax)),
  end: boolean,
  ...sums,
});
const delta = object({
  t: literal('delta'),
  epoch: id,
  base_version: count,
  sync_version: count,
  rows: array(row, limits.deltaRowsMax),
  op,
  ...sums,
});
const acked = object({
  t: literal('acked'),
  id: count,
  items: array(ackedItem, limits.deltaRowsMax),
  sync_version: count,
  total: count,
  digest: digestText,
});
const hb = object({ t: literal('hb'), epoch: id, sync_version: count, total: count, digest: digestText });
const authOk = object({ t: literal('auth_ok'), expires_at: count });
const bye = object({
  t: literal('bye'),
  code: integer(1000, 4999),
  reason: text(0, limits.messageBytesMax),
  retry_ms: optional(count),
});
const error = object({
  t: literal('error'),
  id: optional(count),
  code: text(1, limits.idBytesMax),
  message: text(0, limits.messageBytesMax),
  retry_ms: optional(count),
});

export const serverFrames = { welcome, synced, snapshot, delta, acked, hb, auth_ok: authOk, bye, error };
