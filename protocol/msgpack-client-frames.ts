// Client frames in their MessagePack form: positional arrays, the type first. SPEC.md (section 8) lists the positions.
// [MP2] An element that is nil may be left out at the end; elements behind the known ones are skipped.
import type { AckItem, ClientFrame, Cursor, Hello } from './client-frames.ts';
import { limits } from './limits.ts';
import type { MsgpackReader } from './msgpack-reader.ts';
import type { MsgpackWriter } from './msgpack-writer.ts';

export const clientTypeCodes = {
  hello: 1,
  ack: 2,
  sync: 3,
  mark: 4,
  prefs: 5,
  clear: 6,
  read_all: 7,
  auth: 8,
  ping: 9,
} as const satisfies Record<ClientFrame['t'], number>;

export function writeClientFrame(w: MsgpackWriter, frame: ClientFrame): void {
  switch (frame.t) {
    case 'hello':
      return writeHello(w, frame);
    case 'ack':
      head(w, frame.t, 3);
      w.integer(frame.id);
      w.array(frame.items.length);
      for (const item of frame.items) writeAckItem(w, item);
      return;
    case 'sync':
      head(w, frame.t, frame.digest !== undefined ? 4 : frame.cursor !== null ? 3 : 1);
      if (frame.cursor === null && frame.digest === undefined) return;
      writeCursor(w, frame.cursor);
      if (frame.digest !== undefined) w.digest(frame.digest);
      return;
    case 'mark':
      head(w, frame.t, lengthUpTo(3, frame.from_seq, frame.read_epoch));
      w.integer(frame.id);
      w.text(frame.conv);
      return writeTail(w, frame.from_seq, frame.read_epoch);
    case 'prefs':
      head(w, frame.t, lengthUpTo(3, frame.muted, frame.hidden));
      w.integer(frame.id);
      w.text(frame.conv);
      return writeTail(w, frame.muted, frame.hidden);
    case 'clear':
      head(w, frame.t, lengthUpTo(3, frame.up_to_seq));
      w.integer(frame.id);
      w.text(frame.conv);
      return writeTail(w, frame.up_to_seq);
    case 'read_all':
      head(w, frame.t, lengthUpTo(3, frame.epoch));
      w.integer(frame.id);
      w.integer(frame.sync_version);
      return writeTail(w, frame.epoch);
    case 'auth':
      head(w, frame.t, 2);
      return w.text(frame.token);
    case 'ping':
      return head(w, frame.t, 1);
  }
}

/** The fields behind the type; null when the type is not known. */
export function readClientFrame(r: MsgpackReader, type: number): ClientFrame | null {
  switch (type) {
    case clientTypeCodes.hello:
      return readHello(r);
    case clientTypeCodes.ack:
      return { t: 'ack', id: r.count('id'), items: r.list('items', limits.ackItemsMax, readAckItem) };
    case clientTypeCodes.sync: {
      const cursor = readCursor(r);
      const digest = r.optionalDigest('digest');
      return digest === undefined ? { t: 'sync', cursor } : { t: 'sync', cursor, digest };
    }
    case clientTypeCodes.mark: {
      const frame: ClientFrame = { t: 'mark', id: r.count('id'), conv: r.id('conv') };
      const fromSeq = r.optionalCount('from_seq');
      const readEpoch = r.optionalCount('read_epoch');
      if (fromSeq !== undefined) frame.from_seq = fromSeq;
      if (readEpoch !== undefined) frame.read_epoch = readEpoch;
      return frame;
    }
    case clientTypeCodes.prefs: {
      const frame: ClientFrame = { t: 'prefs', id: r.count('id'), conv: r.id('conv') };
      const muted = r.optionalBoolean('muted');
      const hidden = r.optionalBoolean('hidden');
      if (muted === undefined && hidden === undefined)
        throw r.wrong('muted', 'is missing: at least one of muted, hidden is needed');
      if (muted !== undefined) frame.muted = muted;
      if (hidden !== undefined) frame.hidden = hidden;
      return frame;
    }
    case clientTypeCodes.clear: {
      const frame: ClientFrame = { t: 'clear', id: r.count('id'), conv: r.id('conv') };
      const upToSeq = r.optionalCount('up_to_seq');
      if (upToSeq !== undefined) frame.up_to_seq = upToSeq;
      return frame;
    }
    case clientTypeCodes.read_all: {
      const frame: ClientFrame = { t: 'read_all', id: r.count('id'), sync_version: r.count('sync_version') };
      const epoch = r.optionalId('epoch');
      if (epoch !== undefined) frame.epoch = epoch;
      return frame;
    }
    case clientTypeCodes.auth:
      return { t: 'auth', token: r.text('token', 1, limits.tokenBytesMax) };
    case clientTypeCodes.ping:
      return { t: 'ping' };
    default:
      return null;
  }
}

function writeHello(w: MsgpackWriter, frame: Hello): void {
  head(w, frame.t, lengthUpTo(5, frame.digest, frame.page, frame.max_rows, frame.attempt));
  w.text(frame.token);
  w.text(frame.device);
  writeCursor(w, frame.cursor);
  if (lengthUpTo(5, frame.digest, frame.page, frame.max_rows, frame.attempt) === 5) return;
  if (frame.digest === undefined) w.nil();
  else w.digest(frame.digest);
  writeTail(w, frame.page, frame.max_rows, frame.attempt);
}

function readHello(r: MsgpackReader): Hello {
  const frame: Hello = {
    t: 'hello',
    token: r.text('token', 1, limits.tokenBytesMax),
    device: r.id('device'),
    cursor: readCursor(r),
  };
  const digest = r.optionalDigest('digest');
  const page = r.optionalText('page', 1, limits.pageTokenBytesMax);
  const maxRows = r.optionalCount('max_rows');
  const attempt = r.optionalCount('attempt');
  if (maxRows === 0) throw r.wrong('max_rows', 'must be an integer from 1 to 2^53-1');
  if (digest !== undefined) frame.digest = digest;
  if (page !== undefined) frame.page = page;
  if (maxRows !== undefined) frame.max_rows = maxRows;
  if (attempt !== undefined) frame.attempt = attempt;
  return frame;
}

/** The place of `seq` holds the message_id where the item names one: an integer is the one, a string the other. */
function writeAckItem(w: MsgpackWriter, item: AckItem): void {
  w.array(item.read_epoch === undefined ? 2 : 3);
  w.text(item.conv);
  if (item.message_id === undefined) w.integer(item.seq ?? 0);
  else w.text(item.message_id);
  if (item.read_epoch !== undefined) w.integer(item.read_epoch);
}

function readAckItem(r: MsgpackReader): AckItem {
  const conv = r.id('conv');
  const item: AckItem = r.nextIsText() ? { conv, message_id: r.id('message_id') } : { conv, seq: r.count('seq') };
  const readEpoch = r.optionalCount('read_epoch');
  if (readEpoch !== undefined) item.read_epoch = readEpoch;
  return item;
}

/** Two elements: epoch and sync_version, or nil and nil. */
function writeCursor(w: MsgpackWriter, cursor: Cursor | null): void {
  if (cursor === null) {
    w.nil();
    w.nil();
    return;
  }
  w.text(cursor.epoch);
  w.integer(cursor.sync_version);
}

function readCursor(r: MsgpackReader): Cursor | null {
  const epoch = r.optionalId('cursor.epoch');
  if (epoch !== undefined) return { epoch, sync_version: r.count('cursor.sync_version') };
  r.optionalCount('cursor.sync_version');
  return null;
}

function head(w: MsgpackWriter, type: ClientFrame['t'], length: number): void {
  w.array(length);
  w.integer(clientTypeCodes[type]);
}

type Element = string | number | boolean | undefined;

/** Length of an array that has `fixed` elements and then these, the absent ones at the end left out. */
function lengthUpTo(fixed: number, ...tail: Element[]): number {
  return fixed + tail.findLastIndex((element) => element !== undefined) + 1;
}

function writeTail(w: MsgpackWriter, ...tail: Element[]): void {
  for (const element of tail.slice(0, lengthUpTo(0, ...tail))) {
    if (typeof element === 'string') w.text(element);
    else if (typeof element === 'number') w.integer(element);
    else if (typeof element === 'boolean') w.boolean(element);
    else w.nil();
  }
}
