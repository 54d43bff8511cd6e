// Writes the part of MessagePack that frames use: nil, booleans, integers, strings, 6-byte binaries and arrays.
// [MP1] Integers take their shortest form and never become floats, up to 2^53-1 either way.

const utf8 = new TextEncoder();

export class MsgpackWriter {
  #bytes = new Uint8Array(4096);
  #at = 0;

  /** Begins a frame; whatever was written before is forgotten. */
  start(): this {
    this.#at = 0;
    return this;
  }

  /** A copy of what was written, for the caller to keep. */
  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#at);
  }

  nil(): void {
    this.#ensure(1);
    this.#bytes[this.#at++] = 0xc0;
  }

  boolean(value: boolean): void {
    this.#ensure(1);
    this.#bytes[this.#at++] = value ? 0xc3 : 0xc2;
  }

  /** Head of an array of `length` elements, which are written next. */
  array(length: number): void {
    this.#ensure(5);
    if (length < 16) this.#bytes[this.#at++] = 0x90 | length;
    else if (length < 0x10000) this.#head(0xdc, length, 2);
    else this.#head(0xdd, length, 4);
  }

  integer(value: number): void {
    this.#ensure(9);
    if (value >= 0) {
      if (value < 0x80) this.#bytes[this.#at++] = value;
      else if (value < 0x100) this.#head(0xcc, value, 1);
      else if (value < 0x10000) this.#head(0xcd, value, 2);
      else if (value < 0x100000000) this.#head(0xce, value, 4);
      else this.#long(0xcf, value);
    } else if (value >= -32) this.#bytes[this.#at++] = value;
    else if (value >= -0x80) this.#head(0xd0, value, 1);
    else if (value >= -0x8000) this.#head(0xd1, value, 2);
    else if (value >= -0x80000000) this.#head(0xd2, value, 4);
    else this.#long(0xd3, value);
  }

  text(value: string): void {
    this.#ensure(value.length * 3 + 5);
    if (value.length < 128 && this.#ascii(value)) return;
    // Written behind the longest head, then moved to its own head's end: the length is known only now.
    const from = this.#at + 5;
    const { written } = utf8.encodeInto(value, this.#bytes.subarray(from));
    if (written < 32) this.#bytes[this.#at++] = 0xa0 | written;
    else if (written < 0x100) this.#head(0xd9, written, 1);
    else if (written < 0x10000) this.#head(0xda, written, 2);
    else this.#head(0xdb, written, 4);
    this.#bytes.copyWithin(this.#at, from, from + written);
    this.#at += written;
  }

  /** 12 hex digits as a binary of 6 bytes. */
  digest(hex: string): void {
    this.#ensure(8);
    this.#bytes[this.#at++] = 0xc4;
    this.#bytes[this.#at++] = 6;
    for (let i = 0; i < 12; i += 2) {
      this.#bytes[this.#at++] = (hexValue(hex.charCodeAt(i)) << 4) | hexValue(hex.charCodeAt(i + 1));
    }
  }

  /** Writes nothing and returns false when a character is not ASCII. */
  #ascii(value: string): boolean {
    const { length } = value;
    const before = this.#at;
    if (length < 32) this.#bytes[this.#at++] = 0xa0 | length;
    else this.#head(0xd9, length, 1);
    for (let i = 0; i < length; i++) {
      const unit = value.charCodeAt(i);
      if (unit > 0x7f) {
        this.#at = before;
        return false;
      }
      this.#bytes[this.#at++] = unit;
    }
    return true;
  }

  #head(marker: number, value: number, size: 1 | 2 | 4): void {
    this.#bytes[this.#at++] = marker;
    if (size === 4) {
      this.#bytes[this.#at++] = value >>> 24;
      this.#bytes[this.#at++] = value >>> 16;
    }
    if (size >= 2) this.#bytes[this.#at++] = value >>> 8;
    this.#bytes[this.#at++] = value;
  }

  #long(marker: number, value: number): void {
    const high = Math.floor(value / 0x100000000);
    this.#head(marker, high, 4);
    const low = value - high * 0x100000000;
    this.#bytes[this.#at++] = low >>> 24;
    this.#bytes[this.#at++] = low >>> 16;
    this.#bytes[this.#at++] = low >>> 8;
    this.#bytes[this.#at++] = low;
  }

  #ensure(more: number): void {
    if (this.#at + more <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#at + more));
    larger.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = larger;
  }
}

/** Of a hex digit's character code: 0-9 are 48 … 57, a-f are 97 … 102. */
function hexValue(code: number): number {
  return code < 58 ? code - 48 : code - 87;
}
