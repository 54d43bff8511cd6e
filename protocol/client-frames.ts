// Frames from client to server (SPEC §7), one schema each, told apart by `t`.
import { count, digestText, id } from './ids.ts';
import { limits } from './limits.ts';
import {
  array,
  atLeastOneOf,
  boolean,
  exactlyOneOf,
  integer,
  literal,
  nullable,
  object,
  optional,
  text,
} from './schema.ts';
import type { Infer } from './schema.ts';

export type Cursor = Infer<typeof cursor>;
export type AckItem = Infer<typeof ackItem>;
export type Hello = Infer<typeof hello>;
export type Ack = Infer<typeof ack>;
export type Sync = Infer<typeof sync>;
export type Mark = Infer<typeof mark>;
export type Prefs = Infer<typeof prefs>;
export type Clear = Infer<typeof clear>;
export type ReadAll = Infer<typeof readAll>;
export type Auth = Infer<typeof auth>;
export type Ping = Infer<typeof ping>;
export type ClientFrame = Hello | Ack | Sync | Mark | Prefs | Clear | ReadAll | Auth | Ping;

/** Where a device stands: all changes of `epoch` up to `sync_version` are applied (SY1). */
export const cursor = object({ epoch: id, sync_version: count });

/** "Read up to seq", or up to the message named (AK1, AK9); applies only at `read_epoch` when that is given (AK7). */
export const ackItem = exactlyOneOf(
  object({ conv: id, seq: optional(count), message_id: optional(id), read_epoch: optional(count) }),
  'seq',
  'message_id',
);

const token = text(1, limits.tokenBytesMax, 'a token');

const hello = object({
  t: literal('hello'),
  token,
  device: id,
  cursor: nullable(cursor),
  digest: optional(digestText),
  page: optional(text(1, limits.pageTokenBytesMax)),
  max_rows: optional(integer(1, Number.MAX_SAFE_INTEGER)),
  attempt: optional(count),
});
const ack = object({ t: literal('ack'), id: count, items: array(ackItem, limits.ackItemsMax) });
const sync = object({ t: literal('sync'), cursor: nullable(cursor), digest: optional(digestText) });
const mark = object({
  t: literal('mark'),
  id: count,
  conv: id,
  from_seq: optional(count),
  read_epoch: optional(count),
});
const prefs = atLeastOneOf(
  object({ t: literal('prefs'), id: count, conv: id, muted: optional(boolean), hidden: optional(boolean) }),
  'muted',
  'hidden',
);
const clear = object({ t: literal('clear'), id: count, conv: id, up_to_seq: optional(count) });
const readAll = object({ t: literal('read_all'), id: count, epoch: optional(id), sync_version: count });
const auth = object({ t: literal('auth'), token });
const ping = object({ t: literal('ping') });

export const clientFrames = { hello, ack, sync, mark, prefs, clear, read_all: readAll, auth, ping };
