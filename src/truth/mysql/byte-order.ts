import type { ConvUser } from '../../ports.ts';

/**
 * The order of the server's indexes, in which locks are taken: by UTF-8 bytes. JavaScript compares UTF-16 units, which differs for
 * characters outside the basic plane: their surrogates come before U+E000 there, and after U+FFFF here.
 */
export function byBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = rank(a.charCodeAt(i)) - rank(b.charCodeAt(i));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** By the key of memberships. */
export function byUserConv(a: ConvUser, b: ConvUser): number {
  return byBytes(a.user, b.user) || byBytes(a.conv, b.conv);
}

function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
