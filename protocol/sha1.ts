// SHA-1 (FIPS 180-4), synchronous and without garbage: browsers offer it only asynchronously, and the digest (SY8) is
// needed after every frame. It spreads rows over 48 bits here; nothing rests on it for security.

/** The first 48 bits of the SHA-1 of the UTF-8 form of `text`, 0 … 2^48-1. */
export function sha1First48(text: string): number {
  run(text);
  return state0 * 0x10000 + (state1 >>> 16);
}

/** The whole SHA-1 as 40 hex digits; for vectors and fingerprints. */
export function sha1Hex(text: string): string {
  run(text);
  return [state0, state1, state2, state3, state4].map((word) => word.toString(16).padStart(8, '0')).join('');
}

// One run at a time: the call is synchronous, so the buffers and the state can be shared.
const schedule = new Int32Array(80);
let message = new Uint8Array(512);
let words = new DataView(message.buffer);
let state0 = 0;
let state1 = 0;
let state2 = 0;
let state3 = 0;
let state4 = 0;

function run(text: string): void {
  const length = load(text);
  state0 = 0x67452301;
  state1 = 0xefcdab89;
  state2 = 0x98badcfe;
  state3 = 0x10325476;
  state4 = 0xc3d2e1f0;
  for (let at = 0; at < length; at += 64) block(at);
}

/** Writes text, padding and bit length into `message`; returns the padded length, a multiple of 64. */
function load(text: string): number {
  if (message.length < text.length * 3 + 72) {
    message = new Uint8Array(text.length * 3 + 72);
    words = new DataView(message.buffer);
  }
  let at = 0;
  for (let i = 0; i < text.length; i++) {
    let point = text.charCodeAt(i);
    if (point < 0x80) {
      message[at++] = point;
      continue;
    }
    if (point >= 0xd800 && point <= 0xdfff) {
      point = text.codePointAt(i) ?? 0;
      if (point > 0xffff) i++;
      else point = 0xfffd; // a lone surrogate, as every UTF-8 encoder writes it
    }
    if (point < 0x800) message[at++] = 0xc0 | (point >> 6);
    else {
      if (point < 0x10000) message[at++] = 0xe0 | (point >> 12);
      else {
        message[at++] = 0xf0 | (point >> 18);
        message[at++] = 0x80 | ((point >> 12) & 63);
      }
      message[at++] = 0x80 | ((point >> 6) & 63);
    }
    message[at++] = 0x80 | (point & 63);
  }
  const padded = (at + 72) & ~63;
  message.fill(0, at, padded);
  message[at] = 0x80;
  // Texts stay far below 2^29 bytes, so the upper half of the 64-bit length is 0.
  words.setUint32(padded - 4, at * 8);
  return padded;
}

function block(start: number): void {
  const w = schedule;
  for (let i = 0; i < 16; i++) w[i] = words.getInt32(start + i * 4);
  for (let i = 16; i < 80; i++) {
    const x = word(w, i - 3) ^ word(w, i - 8) ^ word(w, i - 14) ^ word(w, i - 16);
    w[i] = (x << 1) | (x >>> 31);
  }
  let a = state0 | 0;
  let b = state1 | 0;
  let c = state2 | 0;
  let d = state3 | 0;
  let e = state4 | 0;
  // One loop for each of the four functions of the standard: faster than a branch inside a single one.
  for (let i = 0; i < 20; i++) {
    const next = (((a << 5) | (a >>> 27)) + (d ^ (b & (c ^ d))) + e + word(w, i) + 0x5a827999) | 0;
    e = d;
    d = c;
    c = (b << 30) | (b >>> 2);
    b = a;
    a = next;
  }
  for (let i = 20; i < 40; i++) {
    const next = (((a << 5) | (a >>> 27)) + (b ^ c ^ d) + e + word(w, i) + 0x6ed9eba1) | 0;
    e = d;
    d = c;
    c = (b << 30) | (b >>> 2);
    b = a;
    a = next;
  }
  for (let i = 40; i < 60; i++) {
    const next = (((a << 5) | (a >>> 27)) + ((b & c) | (d & (b | c))) + e + word(w, i) + 0x8f1bbcdc) | 0;
    e = d;
    d = c;
    c = (b << 30) | (b >>> 2);
    b = a;
    a = next;
  }
  for (let i = 60; i < 80; i++) {
    const next = (((a << 5) | (a >>> 27)) + (b ^ c ^ d) + e + word(w, i) + 0xca62c1d6) | 0;
    e = d;
    d = c;
    c = (b << 30) | (b >>> 2);
    b = a;
    a = next;
  }
  state0 = (state0 + a) >>> 0;
  state1 = (state1 + b) >>> 0;
  state2 = (state2 + c) >>> 0;
  state3 = (state3 + d) >>> 0;
  state4 = (state4 + e) >>> 0;
}

function word(from: Int32Array, at: number): number {
  return from[at] as number;
}
