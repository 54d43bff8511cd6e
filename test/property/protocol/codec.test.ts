import fc from 'fast-check';
import { pack, Unpackr } from 'msgpackr';
import { describe, expect, test } from 'vitest';
import { jsonCodec, msgpackCodec } from '../../../protocol/index.ts';
import type { Codec, Decoded } from '../../../protocol/index.ts';
import { anyClientFrame, anyServerFrame } from './arbitraries.ts';

const codecs: Codec[] = [jsonCodec, msgpackCodec];

describe.each(codecs)('$subprotocol', (codec) => {
  test('[SY3] every client frame comes back as it went', () => {
    fc.assert(
      fc.property(anyClientFrame, (frame) => {
        expect(codec.decodeClient(codec.encode(frame))).toEqual({ ok: true, frame });
      }),
    );
  });

  test('[SY3] every server frame comes back as it went', () => {
    fc.assert(
      fc.property(anyServerFrame, (frame) => {
        expect(codec.decodeServer(codec.encode(frame))).toEqual({ ok: true, frame });
      }),
    );
  });

  test('[DT5] a frame that lost its end is fatal, never an exception', () => {
    fc.assert(
      fc.property(fc.oneof(anyClientFrame, anyServerFrame), fc.nat(), (frame, cut) => {
        const data = codec.encode(frame);
        const short = data.slice(0, cut % data.length);
        for (const decoded of [codec.decodeClient(short), codec.decodeServer(short)]) {
          expect(decoded).toMatchObject({ ok: false, fatal: true });
        }
      }),
    );
  });

  test('[DT5] a frame with one element changed is decoded, refused by field or fatal', () => {
    fc.assert(
      fc.property(fc.oneof(anyClientFrame, anyServerFrame), fc.nat(), fc.nat(255), (frame, where, byte) => {
        const data = codec.encode(frame);
        const at = where % data.length;
        const changed =
          typeof data === 'string' ? data.slice(0, at) + String.fromCharCode(byte) + data.slice(at + 1) : data.slice();
        if (typeof changed !== 'string') changed[at] = byte;
        expectOutcome(codec.decodeClient(changed));
        expectOutcome(codec.decodeServer(changed));
      }),
      { numRuns: 500 },
    );
  });
});

test('[DT5] no bytes make the MessagePack reader throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expectOutcome(msgpackCodec.decodeClient(bytes));
      expectOutcome(msgpackCodec.decodeServer(bytes));
    }),
    { numRuns: 2000 },
  );
});

test('[MP4] no heads of arrays, maps, strings, binaries and extensions, whatever they claim, make the reader throw', () => {
  const heads = [0x90, 0x9f, 0xdc, 0xdd, 0xde, 0xdf, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xd9, 0xda, 0xdb, 0xcf, 0xc0];
  const anyHead = fc
    .tuple(fc.constantFrom(...heads), fc.uint8Array({ maxLength: 5 }))
    .map(([head, more]) => [head, ...more]);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.array(anyHead, { maxLength: 8 }), (type, chunks) => {
      const bytes = Uint8Array.from([0x98, type, ...chunks.flat()]);
      expectOutcome(msgpackCodec.decodeClient(bytes));
      expectOutcome(msgpackCodec.decodeServer(bytes));
    }),
    { numRuns: 2000 },
  );
});

test('[DT5] no value of any type in any place of a MessagePack frame makes the reader throw', () => {
  const anyElement = fc.anything({ withDate: true, withBigInt: false, maxDepth: 4 });
  fc.assert(
    fc.property(fc.nat(70), fc.array(anyElement, { maxLength: 12 }), (type, fields) => {
      const bytes = pack([type, ...fields]);
      expectOutcome(msgpackCodec.decodeClient(bytes));
      expectOutcome(msgpackCodec.decodeServer(bytes));
    }),
    { numRuns: 500 },
  );
});

test('[DT5] no JSON value makes the JSON codec throw', () => {
  fc.assert(
    fc.property(
      fc.jsonValue(),
      fc.constantFrom('ack', 'hello', 'sync', 'delta', 'snapshot', '__proto__'),
      (value, t) => {
        const texts = [JSON.stringify(value), JSON.stringify({ ...(value as object), t })];
        for (const text of texts) {
          expectOutcome(jsonCodec.decodeClient(text));
          expectOutcome(jsonCodec.decodeServer(text));
        }
      },
    ),
    { numRuns: 500 },
  );
});

test('[SY3] what is written is MessagePack to an independent reader, without floats, maps and extension types', () => {
  const independent = new Unpackr({ useRecords: false, int64AsType: 'number' });
  const allowed = (value: unknown): boolean =>
    value === null ||
    ['boolean', 'string'].includes(typeof value) ||
    Number.isSafeInteger(value) ||
    value instanceof Uint8Array ||
    (Array.isArray(value) && value.every(allowed));
  fc.assert(
    fc.property(fc.oneof(anyClientFrame, anyServerFrame), (frame) => {
      const bytes = msgpackCodec.encode(frame) as Uint8Array;
      expect(allowed(independent.unpack(bytes))).toBe(true);
      expect(floatsIn(bytes)).toBe(0);
    }),
  );
});

test('[SY3] elements that a newer peer puts behind the known ones are skipped', () => {
  const later = fc.array(fc.oneof(fc.nat(), fc.string(), fc.constant(null), fc.double(), fc.array(fc.nat())), {
    maxLength: 3,
  });
  fc.assert(
    fc.property(anyClientFrame, later, (frame, more) => {
      const full = { hello: 9, ack: 3, sync: 4, mark: 5, prefs: 5, clear: 4, read_all: 4, auth: 2, ping: 1 }[frame.t];
      const fields = new Unpackr({ useRecords: false, int64AsType: 'number' }).unpack(
        msgpackCodec.encode(frame) as Uint8Array,
      ) as unknown[];
      while (fields.length < full) fields.push(null);
      expect(msgpackCodec.decodeClient(pack([...fields.map(asIntegers), ...more]))).toEqual({ ok: true, frame });
    }),
  );
});

/** The other writer makes floats of numbers beyond 32 bits, unless they come as BigInt. */
function asIntegers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asIntegers);
  return typeof value === 'number' && value > 0xffffffff ? BigInt(value) : value;
}

function expectOutcome(decoded: Decoded<unknown>): void {
  const what = decoded.ok ? 'frame' : decoded.fatal ? 'fatal' : decoded.code;
  expect(['frame', 'fatal', 'unknown_frame', 'invalid_field']).toContain(what);
  expect(decoded).toHaveProperty(decoded.ok ? 'frame.t' : 'message');
}

/** Walks the markers; strings and binaries are stepped over, so their bytes are not taken for markers. */
function floatsIn(bytes: Uint8Array): number {
  const size = (at: number, width: number): number =>
    bytes.subarray(at, at + width).reduce((value, byte) => value * 256 + byte, 0);
  let floats = 0;
  for (let at = 0; at < bytes.length;) {
    const marker = bytes[at] ?? 0;
    at += 1;
    if (marker >= 0xa0 && marker <= 0xbf) at += marker & 31;
    else if (marker >= 0xd9 && marker <= 0xdb) at += (1 << (marker - 0xd9)) + size(at, 1 << (marker - 0xd9));
    else if (marker === 0xc4) at += 1 + size(at, 1);
    else if (marker === 0xca || marker === 0xcb) floats += 1;
    else if (marker >= 0xcc && marker <= 0xcf) at += 1 << (marker - 0xcc);
    else if (marker >= 0xd0 && marker <= 0xd3) at += 1 << (marker - 0xd0);
    else if (marker === 0xdc) at += 2;
    else if (marker === 0xdd) at += 4;
    if (floats > 0) return floats;
  }
  return floats;
}
