import { limits } from '../../protocol/index.ts';
import type { Row } from '../../protocol/index.ts';

/**
 * How many bytes a row may take in a frame. An upper bound over all codecs rather than the exact number, so that frames are cut at
 * the same rows whatever the codec, and no row is encoded twice to find out. The JSON form is the longest.
 */

/** What a frame of rows carries besides its rows, at most: names, numbers and a page token, whose conversation may be all escapes. */
const FRAME_HEAD_BYTES_MAX = 2048;
/** Rows of one frame must stay below this. */
export const FRAME_ROWS_BYTES_MAX = limits.frameBytesMax - FRAME_HEAD_BYTES_MAX;

/** `{"conv":"","version":,"unread":,"mentions":,"read_seq":,"read_epoch":,"head_seq":},` */
const NAMES_BYTES = 84;
const FLOOR_NAME_BYTES = 13;
/** `,"hidden":false` is the longest of the flags. */
const FLAG_BYTES_MAX = 15;
const PLAIN_ASCII = /^[ !#-[\]-~]*$/;
/** A control character becomes six (\u0001); no other UTF-16 unit takes more than that. */
const ESCAPED_BYTES_MAX = 6;

export function rowBytesMax(row: Row): number {
  let bytes =
    NAMES_BYTES + textBytesMax(row.conv) + digitsMax(row.version) + digitsMax(row.unread) + digitsMax(row.mentions);
  bytes += digitsMax(row.read_seq) + digitsMax(row.read_epoch) + digitsMax(row.head_seq);
  if (row.floor_seq !== undefined) bytes += FLOOR_NAME_BYTES + digitsMax(row.floor_seq);
  for (const flag of [row.muted, row.marked, row.hidden, row.capped, row.gone])
    if (flag !== undefined) bytes += FLAG_BYTES_MAX;
  return bytes;
}

/** `{"conv":"","status":"unknown","read_seq":,"unread":},` and the digits of its numbers. */
const NAMED_BYTES = 88;

/** Whether an answer that names these conversations leaves half of its frame for those that change while it is made. */
export function canBeNamed(convs: readonly string[]): boolean {
  let bytes = 0;
  for (const conv of convs) bytes += NAMED_BYTES + textBytesMax(conv);
  return bytes <= FRAME_ROWS_BYTES_MAX / 2;
}

function textBytesMax(text: string): number {
  return PLAIN_ASCII.test(text) ? text.length : text.length * ESCAPED_BYTES_MAX;
}

function digitsMax(n: number): number {
  if (n < 1e4) return 4;
  return n < 1e8 ? 8 : 16;
}
