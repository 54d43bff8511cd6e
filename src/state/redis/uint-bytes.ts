/** Unsigned integers of 1 to 7 bytes, the lowest byte first, up to 2^53-1: as `struct` of the store's Lua has them. */
const TWO_32 = 2 ** 32;

export function putUint(bytes: Uint8Array, at: number, value: number, width: number): number {
  let low = value >>> 0;
  let high = width > 4 ? Math.floor(value / TWO_32) : 0;
  for (let i = 0; i < width; i++) {
    if (i === 4) low = high;
    bytes[at + i] = low & 255;
    low >>>= 8;
    if (i >= 4) high >>>= 8;
  }
  return at + width;
}

export function uint(bytes: Uint8Array, at: number, width: number): number {
  let low = 0;
  for (let i = Math.min(width, 4) - 1; i >= 0; i--) low = low * 256 + (bytes[at + i] as number);
  let high = 0;
  for (let i = width - 1; i >= 4; i--) high = high * 256 + (bytes[at + i] as number);
  return low + high * TWO_32;
}
