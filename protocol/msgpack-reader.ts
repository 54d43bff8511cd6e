// [MP4] Reads the part of MessagePack that frames use, straight into fields. Every claim of a length is held against the bytes
// that are there before anything is made of it, so a few bytes cannot ask for gigabytes; nesting is walked, not recursed into.
import { limits } from './limits.ts';

/** The bytes are not one whole MessagePack value: not a frame of the subprotocol. */
export class NotMsgpack extends Error {}

/** A field has a value that it may not have. */
export class WrongField extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });
const NIL = 0xc0;
const hexPairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

export class MsgpackReader {
  #bytes: Uint8Array = new Uint8Array(0);
  #at = 0;
  /** Elements of the present array that are not read yet. */
  #left = 0;
  #list = '';
  #index = 0;

  start(bytes: Uint8Array): this {
    this.#bytes = bytes;
    this.#at = 0;
    this.#list = '';
    this.#left = 1;
    return this;
  }

  /** Enters the array of a frame. */
  enterFrame(): void {
    const length = this.#arrayLength();
    if (length < 0) throw new NotMsgpack('a frame is an array');
    this.#left = length;
  }

  /** Leaves the frame: elements that a newer peer put behind the known ones are skipped, and nothing may follow. */
  leaveFrame(): void {
    this.#skipRest();
    if (this.#at !== this.#bytes.length) throw new NotMsgpack('bytes after the frame');
  }

  /** A list of arrays, each read by `item`. */
  list<T>(name: string, max: number, item: (reader: this) => T): T[] {
    if (this.#left === 0) throw this.#wrong(name, 'is missing');
    const length = this.#arrayLength();
    if (length < 0) throw this.#wrong(name, 'must be a list');
    if (length > max) throw this.#wrong(name, `must have at most ${max} items, has ${length}`);
    const rest = this.#left - 1;
    const items: T[] = [];
    this.#list = name;
    for (let i = 0; i < length; i++) {
      this.#index = i;
      const fields = this.#arrayLength();
      if (fields < 0) throw this.#wrong('', 'must be an array');
      this.#left = fields;
      items.push(item(this));
      this.#skipRest();
    }
    this.#list = '';
    this.#left = rest;
    return items;
  }

  /** 0 … 2^53-1. */
  count(name: string, missing?: number): number {
    const value = this.signed(name, missing);
    if (value < 0) throw this.#wrong(name, 'must be an integer from 0 to 2^53-1');
    return value;
  }

  /** A count, or undefined for nil or nothing. */
  optionalCount(name: string): number | undefined {
    return this.#absent() ? undefined : this.count(name);
  }

  /** An integer within ±(2^53-1); `missing` stands for an element that was left out at the end. */
  signed(name: string, missing?: number): number {
    if (this.#left === 0) {
      if (missing === undefined) throw this.#wrong(name, 'is missing');
      return missing;
    }
    this.#left--;
    const value = this.#integer();
    if (Number.isNaN(value)) throw this.#wrong(name, 'must be an integer from 0 to 2^53-1');
    return value;
  }

  optionalBoolean(name: string): boolean | undefined {
    return this.#absent() ? undefined : this.boolean(name);
  }

  boolean(name: string): boolean {
    const marker = this.#next(name);
    if (marker !== 0xc2 && marker !== 0xc3) throw this.#wrong(name, 'must be true or false');
    return marker === 0xc3;
  }

  id(name: string): string {
    return this.text(name, 1, limits.idBytesMax);
  }

  optionalId(name: string): string | undefined {
    return this.#absent() ? undefined : this.id(name);
  }

  optionalText(name: string, min: number, max: number): string | undefined {
    return this.#absent() ? undefined : this.text(name, min, max);
  }

  /** Text of `min` to `max` bytes of UTF-8. */
  text(name: string, min: number, max: number): string {
    if (this.#left === 0) throw this.#wrong(name, 'is missing');
    this.#left--;
    const length = this.#textLength();
    if (length < 0) throw this.#wrong(name, 'must be a string (ids are strings)');
    if (length < min || length > max) throw this.#wrong(name, `must be ${min} to ${max} bytes of UTF-8`);
    const value = this.#utf8(length);
    if (value === null) throw this.#wrong(name, 'must be well-formed Unicode');
    return value;
  }

  optionalDigest(name: string): string | undefined {
    return this.#absent() ? undefined : this.digest(name);
  }

  /** 6 bytes as 12 hex digits. */
  digest(name: string): string {
    const marker = this.#next(name);
    if (marker !== 0xc4 || this.#byte() !== 6) throw this.#wrong(name, 'must be 6 bytes');
    this.#need(6);
    let hex = '';
    for (let i = 0; i < 6; i++) hex += hexPairs[this.#byte()];
    return hex;
  }

  /** Whether the next element is a string (an id) rather than an integer. */
  nextIsText(): boolean {
    const marker = this.#left === 0 ? NIL : (this.#bytes[this.#at] ?? NIL);
    return (marker >= 0xa0 && marker <= 0xbf) || (marker >= 0xd9 && marker <= 0xdb);
  }

  /** One whole value of any type and no byte more: tells a wrong field from something that is no MessagePack at all. */
  isWhole(bytes: Uint8Array): boolean {
    this.start(bytes);
    try {
      this.#skipRest();
      return this.#at === bytes.length;
    } catch (error) {
      if (error instanceof NotMsgpack) return false;
      throw error;
    }
  }

  wrong(name: string, message: string): WrongField {
    return this.#wrong(name, message);
  }

  #wrong(name: string, message: string): WrongField {
    const item = this.#list === '' ? '' : `${this.#list}[${this.#index}]`;
    return new WrongField(item === '' || name === '' ? item + name : `${item}.${name}`, message);
  }

  /** Takes a nil; true also when the array has ended. */
  #absent(): boolean {
    if (this.#left === 0) return true;
    if (this.#bytes[this.#at] !== NIL) return false;
    this.#left--;
    this.#at++;
    return true;
  }

  #next(name: string): number {
    if (this.#left === 0) throw this.#wrong(name, 'is missing');
    this.#left--;
    return this.#byte();
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new NotMsgpack('the bytes end too early');
    return byte;
  }

  #need(length: number): void {
    if (length > this.#bytes.length - this.#at) throw new NotMsgpack('a length beyond the end of the bytes');
  }

  #unsigned(size: number): number {
    let value = 0;
    for (let i = 0; i < size; i++) value = value * 256 + this.#byte();
    return value;
  }

  /** NaN when the value is no integer, or one beyond ±(2^53-1). */
  #integer(): number {
    const marker = this.#byte();
    if (marker < 0x80) return marker;
    if (marker >= 0xe0) return marker - 0x100;
    if (marker >= 0xcc && marker <= 0xce) return this.#unsigned(1 << (marker - 0xcc));
    if (marker >= 0xd0 && marker <= 0xd2) {
      const size = 1 << (marker - 0xd0);
      const value = this.#unsigned(size);
      return value < 2 ** (size * 8 - 1) ? value : value - 2 ** (size * 8);
    }
    if (marker !== 0xcf && marker !== 0xd3) return Number.NaN;
    const high = marker === 0xcf ? this.#unsigned(4) : this.#unsigned(4) | 0;
    const value = high * 0x100000000 + this.#unsigned(4);
    return Number.isSafeInteger(value) ? value : Number.NaN;
  }

  /** -1 when the value is no string. */
  #textLength(): number {
    const marker = this.#byte();
    if (marker >= 0xa0 && marker <= 0xbf) return marker & 31;
    return marker >= 0xd9 && marker <= 0xdb ? this.#unsigned(1 << (marker - 0xd9)) : -1;
  }

  /** -1 when the value is no array. */
  #arrayLength(): number {
    const marker = this.#byte();
    let length = -1;
    if (marker >= 0x90 && marker <= 0x9f) length = marker & 15;
    else if (marker === 0xdc || marker === 0xdd) length = this.#unsigned(marker === 0xdc ? 2 : 4);
    if (length > 0) this.#need(length); // an element takes a byte at least
    return length;
  }

  #utf8(length: number): string | null {
    this.#need(length);
    const end = this.#at + length;
    let value = '';
    for (let i = this.#at; i < end; i++) {
      const byte = this.#bytes[i] as number;
      if (byte > 0x7f || length > 64) return this.#decoded(end);
      value += String.fromCharCode(byte);
    }
    this.#at = end;
    return value;
  }

  #decoded(end: number): string | null {
    const part = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    try {
      return utf8.decode(part);
    } catch {
      return null;
    }
  }

  /** Passes over what is left of the present array, of any type and depth. */
  #skipRest(): void {
    for (let due = this.#left; due > 0; due--) {
      const marker = this.#byte();
      if (marker >= 0x80 && marker <= 0x8f) due += (marker & 15) * 2;
      else if (marker >= 0x90 && marker <= 0x9f) due += marker & 15;
      else if (marker === 0xdc || marker === 0xdd) due += this.#unsigned(marker === 0xdc ? 2 : 4);
      else if (marker === 0xde || marker === 0xdf) due += this.#unsigned(marker === 0xde ? 2 : 4) * 2;
      else this.#skipBytes(marker);
      this.#need(due - 1);
    }
    this.#left = 0;
  }

  /** Passes over the payload of a value that holds no other values. */
  #skipBytes(marker: number): void {
    let length = 0;
    if (marker === 0xc1) throw new NotMsgpack('a byte that MessagePack never uses');
    if (marker >= 0xa0 && marker <= 0xbf) length = marker & 31;
    else if (marker >= 0xc4 && marker <= 0xc6) length = this.#unsigned(1 << (marker - 0xc4));
    else if (marker >= 0xc7 && marker <= 0xc9) length = this.#unsigned(1 << (marker - 0xc7)) + 1;
    else if (marker === 0xca) length = 4;
    else if (marker === 0xcb) length = 8;
    else if (marker >= 0xcc && marker <= 0xcf) length = 1 << (marker - 0xcc);
    else if (marker >= 0xd0 && marker <= 0xd3) length = 1 << (marker - 0xd0);
    else if (marker >= 0xd4 && marker <= 0xd8) length = (1 << (marker - 0xd4)) + 1;
    else if (marker >= 0xd9 && marker <= 0xdb) length = this.#unsigned(1 << (marker - 0xd9));
    this.#need(length);
    this.#at += length;
  }
}
