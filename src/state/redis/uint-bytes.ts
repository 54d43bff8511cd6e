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
  let value = 0;
  for (let i = at + width - 1; i >= at; i--) value = value * 256 + (bytes[i] as number);
  return value;
}

/** The widths of usual rows, without a loop: reading them is most of what a node does in a fan-out. */
export function uint24(bytes: Uint8Array, at: number): number {
  return (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16);
}

export function uint32(bytes: Uint8Array, at: number): number {
  return uint24(bytes, at) + (bytes[at + 3] as number) * 0x100_0000;
}

export function uint56(bytes: Uint8Array, at: number): number {
  return uint32(bytes, at) + uint24(bytes, at + 4) * TWO_32;
}
