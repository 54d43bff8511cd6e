// The JSON form: one object a frame, a text message each.
import { checkClientFrame, checkServerFrame, notAFrame } from './codec.ts';
import type { Codec, Decoded } from './codec.ts';

export const jsonCodec: Codec = {
  subprotocol: 'tidemark.v1.json',
  binary: false,
  encode: (frame) => JSON.stringify(frame),
  decodeClient: (data) => decode(data, checkClientFrame),
  decodeServer: (data) => decode(data, checkServerFrame),
};

function decode<F>(data: string | Uint8Array, check: (value: unknown) => Decoded<F>): Decoded<F> {
  if (typeof data !== 'string') return notAFrame('a frame of tidemark.v1.json is a text message');
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return notAFrame('the text is not JSON');
  }
  return check(value);
}
