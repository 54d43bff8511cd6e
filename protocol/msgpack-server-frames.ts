// Server frames in their MessagePack form: positional arrays, the type first. SPEC.md (section 8) lists the positions.
// [MP3] Versions inside a frame are differences to its sync_version, read_seq one to head_seq, badge one to total: short numbers.
// [MP2] An element that is 0 or nil may be left out at the end; elements behind the known ones are skipped.
import { limits } from './limits.ts';
import type { MsgpackReader } from './msgpack-reader.ts';
import type { MsgpackWriter } from './msgpack-writer.ts';
import { ackStatuses, ops, syncModes, syncReasons } from './server-frames.ts';
import type { AckedItem, Delta, Row, ServerFrame, Snapshot, Synced, Welcome } from './server-frames.ts';

/** A delta carries its op in the type: 32 is `message`, 33 `recall` and so on in the order of `ops`. */
const deltaCode = 32;
const deltaCodeMax = 63;

export const serverTypeCodes = {
  welcome: 16,
  synced: 17,
  snapshot: 18,
  acked: 20,
  hb: 21,
  auth_ok: 22,
  bye: 23,
  error: 24,
  delta: deltaCode,
} as const satisfies Record<ServerFrame['t'], number>;

/** Bits of a row's flags; bits that are not known are skipped. */
const flagBits = { muted: 1, marked: 2, hidden: 4, capped: 8, gone: 16 } as const;

export function writeServerFrame(w: MsgpackWriter, frame: ServerFrame): void {
  switch (frame.t) {
    case 'delta':
      return writeDelta(w, frame);
    case 'acked':
      head(w, serverTypeCodes.acked, 6);
      w.integer(frame.id);
      w.array(frame.items.length);
      for (const item of frame.items) writeAckedItem(w, item);
      w.integer(frame.sync_version);
      w.digest(frame.digest);
      return w.integer(frame.total);
    case 'hb':
      head(w, serverTypeCodes.hb, 5);
      w.text(frame.epoch);
      w.integer(frame.sync_version);
      w.digest(frame.digest);
      return w.integer(frame.total);
    case 'snapshot':
      return writeSnapshot(w, frame);
    case 'welcome':
      head(w, serverTypeCodes.welcome, 12);
      w.text(frame.conn);
      w.text(frame.user);
      w.integer(frame.heartbeat_ms);
      return writeAnswer(w, frame);
    case 'synced':
      head(w, serverTypeCodes.synced, 9);
      return writeAnswer(w, frame);
    case 'auth_ok':
      head(w, serverTypeCodes.auth_ok, 2);
      return w.integer(frame.expires_at);
    case 'bye':
      head(w, serverTypeCodes.bye, frame.retry_ms === undefined ? 3 : 4);
      w.integer(frame.code);
      w.text(frame.reason);
      return writeOptional(w, frame.retry_ms);
    case 'error':
      head(w, serverTypeCodes.error, frame.retry_ms === undefined ? 4 : 5);
      if (frame.id === undefined) w.nil();
      else w.integer(frame.id);
      w.text(frame.code);
      w.text(frame.message);
      return writeOptional(w, frame.retry_ms);
  }
}

/** The fields behind the type; null when the type is not known. */
export function readServerFrame(r: MsgpackReader, type: number): ServerFrame | null {
  switch (type) {
    case serverTypeCodes.acked:
      return {
        t: 'acked',
        id: r.count('id'),
        items: r.list('items', limits.deltaRowsMax, readAckedItem),
        sync_version: r.count('sync_version'),
        digest: r.digest('digest'),
        total: r.count('total'),
      };
    case serverTypeCodes.hb:
      return {
        t: 'hb',
        epoch: r.id('epoch'),
        sync_version: r.count('sync_version'),
        digest: r.digest('digest'),
        total: r.count('total'),
      };
    case serverTypeCodes.snapshot:
      return readSnapshot(r);
    case serverTypeCodes.welcome:
      return readWelcome(r);
    case serverTypeCodes.synced:
      return { t: 'synced', ...readAnswer(r) };
    case serverTypeCodes.auth_ok:
      return { t: 'auth_ok', expires_at: r.count('expires_at') };
    case serverTypeCodes.bye: {
      const code = r.count('code');
      if (code < 1000 || code > 4999) throw r.wrong('code', 'must be an integer from 1000 to 4999');
      const reason = r.text('reason', 0, limits.messageBytesMax);
      const retryMs = r.optionalCount('retry_ms');
      return retryMs === undefined ? { t: 'bye', code, reason } : { t: 'bye', code, reason, retry_ms: retryMs };
    }
    case serverTypeCodes.error: {
      const id = r.optionalCount('id');
      const code = r.id('code');
      const message = r.text('message', 0, limits.messageBytesMax);
      const retryMs = r.optionalCount('retry_ms');
      const frame: ServerFrame = { t: 'error', code, message };
      if (id !== undefined) frame.id = id;
      if (retryMs !== undefined) frame.retry_ms = retryMs;
      return frame;
    }
    default:
      return type >= deltaCode && type <= deltaCodeMax ? readDelta(r, type - deltaCode) : null;
  }
}

// ------------------------------------------------------------------ rows

function writeDelta(w: MsgpackWriter, frame: Delta): void {
  head(w, deltaCode + ops.indexOf(frame.op), sumsLength(7, frame));
  w.text(frame.epoch);
  w.integer(frame.base_version);
  w.integer(frame.sync_version - frame.base_version);
  writeRows(w, frame.rows, frame.sync_version);
  writeSums(w, frame);
}

function readDelta(r: MsgpackReader, opCode: number): Delta {
  const op = oneOf(r, 'op', ops, opCode);
  const epoch = r.id('epoch');
  const base = r.count('base_version');
  const syncVersion = shifted(r, 'sync_version', base, r.signed('sync_version'));
  const rows = readRows(r, syncVersion, limits.deltaRowsMax);
  return { t: 'delta', epoch, base_version: base, sync_version: syncVersion, rows, op, ...readSums(r) };
}

function writeSnapshot(w: MsgpackWriter, frame: Snapshot): void {
  head(w, serverTypeCodes.snapshot, sumsLength(9, frame));
  w.text(frame.epoch);
  w.integer(frame.sync_version);
  w.integer(frame.page);
  w.boolean(frame.end);
  writeRows(w, frame.rows, frame.sync_version);
  if (frame.next === undefined) w.nil();
  else w.text(frame.next);
  writeSums(w, frame);
}

function readSnapshot(r: MsgpackReader): Snapshot {
  const epoch = r.id('epoch');
  const syncVersion = r.count('sync_version');
  const page = r.count('page');
  if (page === 0) throw r.wrong('page', 'must be an integer from 1 to 2^53-1');
  const end = r.boolean('end');
  const rows = readRows(r, syncVersion, limits.pageRowsMax);
  const next = r.optionalText('next', 1, limits.pageTokenBytesMax);
  const frame: Snapshot = { t: 'snapshot', epoch, sync_version: syncVersion, page, rows, end, ...readSums(r) };
  if (next !== undefined) frame.next = next;
  return frame;
}

function writeRows(w: MsgpackWriter, rows: readonly Row[], syncVersion: number): void {
  w.array(rows.length);
  for (const row of rows) writeRow(w, row, syncVersion);
}

function readRows(r: MsgpackReader, syncVersion: number, max: number): Row[] {
  return r.list('rows', max, (reader) => readRow(reader, syncVersion));
}

function writeRow(w: MsgpackWriter, row: Row, syncVersion: number): void {
  const behind = row.head_seq - row.read_seq;
  const age = syncVersion - row.version;
  const flags = flagsOf(row);
  const aboveRead = row.floor_seq === undefined ? 0 : row.floor_seq - row.read_seq;
  let length = 2;
  if (aboveRead !== 0) length = 9;
  else if (row.read_epoch !== 0) length = 8;
  else if (flags !== 0) length = 7;
  else if (age !== 0) length = 6;
  else if (row.mentions !== 0) length = 5;
  else if (row.unread !== 0) length = 4;
  else if (behind !== 0) length = 3;
  w.array(length);
  w.text(row.conv);
  w.integer(row.head_seq);
  if (length > 2) w.integer(behind);
  if (length > 3) w.integer(row.unread);
  if (length > 4) w.integer(row.mentions);
  if (length > 5) w.integer(age);
  if (length > 6) w.integer(flags);
  if (length > 7) w.integer(row.read_epoch);
  if (length > 8) w.integer(aboveRead);
}

function readRow(r: MsgpackReader, syncVersion: number): Row {
  const conv = r.id('conv');
  const head = r.count('head_seq');
  const readSeq = shifted(r, 'read_seq', head, -r.signed('read_seq', 0));
  const unread = r.count('unread', 0);
  const mentions = r.count('mentions', 0);
  const version = shifted(r, 'version', syncVersion, -r.signed('version', 0));
  const flags = r.count('flags', 0);
  const readEpoch = r.count('read_epoch', 0);
  const aboveRead = r.signed('floor_seq', 0);
  const row: Row = { conv, version, unread, mentions, read_seq: readSeq, read_epoch: readEpoch, head_seq: head };
  if (aboveRead !== 0) row.floor_seq = shifted(r, 'floor_seq', readSeq, aboveRead);
  if (flags === 0) return row;
  if ((flags & flagBits.muted) !== 0) row.muted = true;
  if ((flags & flagBits.marked) !== 0) row.marked = true;
  if ((flags & flagBits.hidden) !== 0) row.hidden = true;
  if ((flags & flagBits.capped) !== 0) row.capped = true;
  if ((flags & flagBits.gone) !== 0) row.gone = true;
  return row;
}

function flagsOf(row: Row): number {
  return (
    (row.muted === true ? flagBits.muted : 0) |
    (row.marked === true ? flagBits.marked : 0) |
    (row.hidden === true ? flagBits.hidden : 0) |
    (row.capped === true ? flagBits.capped : 0) |
    (row.gone === true ? flagBits.gone : 0)
  );
}

// ------------------------------------------------------------------ answers, sums, acks

function writeAnswer(w: MsgpackWriter, frame: Welcome | Synced): void {
  w.text(frame.epoch);
  w.integer(frame.sync_version);
  const reason = frame.reason === undefined ? 0 : syncReasons.indexOf(frame.reason) + 1;
  w.integer(syncModes.indexOf(frame.mode) + syncModes.length * reason);
  w.integer(frame.expires_at);
  w.digest(frame.digest);
  w.integer(frame.total);
  w.integer(frame.total - frame.badge);
  w.integer(frame.mentions);
}

function readWelcome(r: MsgpackReader): Welcome {
  const conn = r.id('conn');
  const user = r.id('user');
  const heartbeatMs = r.count('heartbeat_ms');
  if (heartbeatMs === 0) throw r.wrong('heartbeat_ms', 'must be an integer from 1 to 2^53-1');
  return { t: 'welcome', conn, user, heartbeat_ms: heartbeatMs, ...readAnswer(r) };
}

function readAnswer(r: MsgpackReader): Omit<Synced, 't'> {
  const epoch = r.id('epoch');
  const syncVersion = r.count('sync_version');
  const code = r.count('mode');
  const mode = oneOf(r, 'mode', syncModes, code % syncModes.length);
  const reasonCode = Math.floor(code / syncModes.length);
  const expiresAt = r.count('expires_at');
  const answer = { epoch, sync_version: syncVersion, mode, expires_at: expiresAt, ...readSums(r) };
  return reasonCode === 0 ? answer : { ...answer, reason: oneOf(r, 'reason', syncReasons, reasonCode - 1) };
}

type SumFields = Pick<Delta, 'digest' | 'total' | 'badge' | 'mentions'>;

/** `full` is the length with `digest` and `total` as the last elements: badge and mentions follow where they say something. */
function sumsLength(full: number, frame: SumFields): number {
  return frame.mentions !== 0 ? full + 2 : frame.badge === frame.total ? full : full + 1;
}

function writeSums(w: MsgpackWriter, frame: SumFields): void {
  w.digest(frame.digest);
  w.integer(frame.total);
  if (frame.mentions !== 0 || frame.badge !== frame.total) w.integer(frame.total - frame.badge);
  if (frame.mentions !== 0) w.integer(frame.mentions);
}

function readSums(r: MsgpackReader): SumFields {
  const digest = r.digest('digest');
  const total = r.count('total');
  const badge = shifted(r, 'badge', total, -r.signed('badge', 0));
  return { digest, total, badge, mentions: r.count('mentions', 0) };
}

function writeAckedItem(w: MsgpackWriter, item: AckedItem): void {
  w.array(item.unread !== undefined ? 4 : item.read_seq !== undefined ? 3 : 2);
  w.text(item.conv);
  w.integer(ackStatuses.indexOf(item.status));
  if (item.read_seq !== undefined) w.integer(item.read_seq);
  else if (item.unread !== undefined) w.nil();
  if (item.unread !== undefined) w.integer(item.unread);
}

function readAckedItem(r: MsgpackReader): AckedItem {
  const item: AckedItem = { conv: r.id('conv'), status: oneOf(r, 'status', ackStatuses, r.count('status')) };
  const readSeq = r.optionalCount('read_seq');
  const unread = r.optionalCount('unread');
  if (readSeq !== undefined) item.read_seq = readSeq;
  if (unread !== undefined) item.unread = unread;
  return item;
}

function head(w: MsgpackWriter, code: number, length: number): void {
  w.array(length);
  w.integer(code);
}

function writeOptional(w: MsgpackWriter, value: number | undefined): void {
  if (value !== undefined) w.integer(value);
}

/** A count that was written as a difference. */
function shifted(r: MsgpackReader, name: string, from: number, by: number): number {
  const value = from + by;
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw r.wrong(name, 'must be an integer from 0 to 2^53-1');
}

function oneOf<T extends string>(r: MsgpackReader, name: string, values: readonly T[], code: number): T {
  const value = values[code];
  if (value === undefined) throw r.wrong(name, `must be one of ${values.join(', ')}`);
  return value;
}
