// The compact codec, for `new TidemarkClient({ codec: msgpackCodec, … })`: the client's half of it.
import { writeClientFrame } from '../protocol/msgpack-client-frames.ts';
import { MsgpackReader, WrongField } from '../protocol/msgpack-reader.ts';
import { readServerFrame } from '../protocol/msgpack-server-frames.ts';
import { MsgpackWriter } from '../protocol/msgpack-writer.ts';
import type { ClientFrame } from '../protocol/client-frames.ts';
import type { ClientCodec } from './json-codec.ts';

// Encoding and decoding are synchronous, so one of each serves all sockets.
const writer = new MsgpackWriter();
const reader = new MsgpackReader();

export const msgpackCodec: ClientCodec = {
  subprotocol: 'tidemark.v1.msgpack',
  encode(frame) {
    writer.start();
    writeClientFrame(writer, frame as ClientFrame);
    return writer.finish();
  },
  decodeServer(data) {
    try {
      reader.start(data as Uint8Array).enterFrame();
      const frame = readServerFrame(reader, reader.count('t'));
      if (frame !== null) {
        reader.leaveFrame();
        return { ok: true, frame };
      }
      return { ok: false, fatal: false, code: 'unknown_frame', message: 'a frame type of a newer server' };
    } catch (error) {
      const { message } = error as Error;
      if (!(error instanceof WrongField)) return { ok: false, fatal: true, message };
      return { ok: false, fatal: false, code: 'invalid_field', message: `${error.field} ${message}` };
    }
  },
};
