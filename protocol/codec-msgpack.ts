// [MP1] The MessagePack form: the same frames as compact positional arrays, a binary message each.
import type { ClientFrame } from './client-frames.ts';
import { notAFrame } from './codec.ts';
import type { Codec, Decoded } from './codec.ts';
import { clientTypeCodes, readClientFrame, writeClientFrame } from './msgpack-client-frames.ts';
import { MsgpackReader, NotMsgpack, WrongField } from './msgpack-reader.ts';
import { readServerFrame, writeServerFrame } from './msgpack-server-frames.ts';
import { MsgpackWriter } from './msgpack-writer.ts';
import type { ServerFrame } from './server-frames.ts';

// Encoding and decoding are synchronous, so one of each serves all sockets.
const writer = new MsgpackWriter();
const reader = new MsgpackReader();

export const msgpackCodec: Codec = {
  subprotocol: 'tidemark.v1.msgpack',
  binary: true,
  encode(frame) {
    writer.start();
    if (isClientFrame(frame)) writeClientFrame(writer, frame);
    else writeServerFrame(writer, frame);
    return writer.finish();
  },
  decodeClient: (data) => decode(data, readClientFrame),
  decodeServer: (data) => decode(data, readServerFrame),
};

function isClientFrame(frame: ClientFrame | ServerFrame): frame is ClientFrame {
  return Object.hasOwn(clientTypeCodes, frame.t);
}

function decode<F extends ClientFrame | ServerFrame>(
  data: string | Uint8Array,
  read: (reader: MsgpackReader, type: number) => F | null,
): Decoded<F> {
  if (typeof data === 'string') return notAFrame('a frame of tidemark.v1.msgpack is a binary message');
  try {
    reader.start(data).enterFrame();
    const type = reader.count('t');
    const frame = read(reader, type);
    if (frame === null && reader.isWhole(data)) {
      return { ok: false, fatal: false, code: 'unknown_frame', message: 'the frame type is not known', field: 't' };
    }
    reader.leaveFrame();
    return frame === null ? notAFrame('not one whole frame') : { ok: true, frame };
  } catch (error) {
    if (error instanceof NotMsgpack) return notAFrame(error.message);
    if (!(error instanceof WrongField)) throw error;
    if (error.field === 't' || !reader.isWhole(data)) return notAFrame('not one whole frame');
    const { field, message } = error;
    return { ok: false, fatal: false, code: 'invalid_field', message: `${field} ${message}`, field, ...idOf(data) };
  }
}

/** The id of the frame, so that an error can be told apart; all commands have it behind the type. */
function idOf(data: Uint8Array): { id?: number } {
  try {
    reader.start(data).enterFrame();
    const type = reader.count('t');
    if (!commandCodes.has(type)) return {};
    return { id: reader.count('id') };
  } catch (error) {
    if (error instanceof NotMsgpack || error instanceof WrongField) return {};
    throw error;
  }
}

const commandCodes = new Set<number>([
  clientTypeCodes.ack,
  clientTypeCodes.mark,
  clientTypeCodes.prefs,
  clientTypeCodes.clear,
  clientTypeCodes.read_all,
]);
