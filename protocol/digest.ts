// [SY8] The digest: a 48-bit additive hash over the listed rows of a user, the same in every engine that holds rows.
import { sha1First48 } from './sha1.ts';

/** The part of a row that the digest covers; a wire `Row` has it. */
export type DigestRow = {
  conv: string;
  unread: number;
  mentions: number;
  read_epoch: number;
  read_seq: number;
  muted?: boolean | undefined;
  marked?: boolean | undefined;
  capped?: boolean | undefined;
  hidden?: boolean | undefined;
  gone?: boolean | undefined;
};

const MODULUS = 2 ** 48;
const HALF = 2 ** 24;

/** [CN3] Listed rows are the ones that count: not a tombstone, not hidden. */
export function isListed(row: Pick<DigestRow, 'hidden' | 'gone'>): boolean {
  return row.gone !== true && row.hidden !== true;
}

/** The text that is hashed. `conv` stands last: whatever an id contains, it cannot move the border of another field. */
export function canonicalRow(row: DigestRow): string {
  const flags = (row.muted === true ? 'm' : '') + (row.marked === true ? 'k' : '') + (row.capped === true ? 'c' : '');
  return `${row.unread}|${row.mentions}|${row.read_epoch}|${row.read_seq}|${flags}|${row.conv}`;
}

/** What a row adds to the digest, 0 … 2^48-1; 0 when it is not listed. */
export function rowDigest(row: DigestRow): number {
  return isListed(row) ? sha1First48(canonicalRow(row)) : 0;
}

export function addDigest(sum: number, n: number): number {
  const next = sum + n;
  return next >= MODULUS ? next - MODULUS : next;
}

export function subtractDigest(sum: number, n: number): number {
  const next = sum - n;
  return next < 0 ? next + MODULUS : next;
}

export function digestOf(rows: Iterable<DigestRow>): number {
  let sum = 0;
  for (const row of rows) sum = addDigest(sum, rowDigest(row));
  return sum;
}

/** 12 lower-case hex digits. By halves: `toString(16)` of a number above 2^31 takes five times as long, nearly as long as the hash. */
export function formatDigest(digest: number): string {
  const high = Math.floor(digest / HALF);
  return hexOfHalf(high) + hexOfHalf(digest - high * HALF);
}

export function parseDigest(text: string): number {
  return Number.parseInt(text, 16);
}

/** The 1 above keeps the zeros. */
function hexOfHalf(half: number): string {
  return (half + HALF).toString(16).slice(1);
}
