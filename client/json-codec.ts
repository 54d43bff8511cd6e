// The client's half of the JSON form.
import type { Codec } from '../protocol/codec.ts';
import type { ServerFrame } from '../protocol/server-frames.ts';

/** What a client needs of a codec; those of the protocol have it. */
export type ClientCodec = Pick<Codec, 'subprotocol' | 'encode' | 'decodeServer'>;

/**
 * Takes what is JSON for a frame. The schemas would double the size of the client, and make an old client refuse what a
 * newer server says in addition; a frame that is wrong does not get past its total and digest (SY7). Where a check of every
 * field is wanted, `jsonCodec` of the protocol does the same with it.
 */
export const clientJsonCodec: ClientCodec = {
  subprotocol: 'tidemark.v1.json',
  encode: (frame) => JSON.stringify(frame),
  decodeServer(data) {
    try {
      const frame = JSON.parse(data as string) as ServerFrame | null;
      if (typeof frame?.t === 'string') return { ok: true, frame };
    } catch {
      // Answered below, together with JSON that is no frame.
    }
    return { ok: false, fatal: true, message: 'not a frame' };
  },
};
