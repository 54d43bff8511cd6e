// The scalar schemas that all frames, events and bodies share.
import { limits } from './limits.ts';
import { integer, pattern, text } from './schema.ts';

/** Opaque id of a user, conversation, message, device or event: 1 … 128 bytes of UTF-8, compared byte for byte. */
export const id = text(1, limits.idBytesMax, 'a string of 1 to 128 bytes (ids are strings)');

/** Any count, version or position: 0 … 2^53-1. Also Unix times in milliseconds. */
export const count = integer(0, Number.MAX_SAFE_INTEGER);

/** The position of a message: seqs start at 1 (DT3). */
export const messageSeq = integer(1, Number.MAX_SAFE_INTEGER);

/** A 48-bit digest (SY8). */
export const digestText = pattern(/^[0-9a-f]{12}$/, '12 lower-case hex digits');
