// What a codec is: frames to bytes and bytes to checked frames. The two of them stand in codec-json.ts and codec-msgpack.ts.
import { clientFrames } from './client-frames.ts';
import type { ClientFrame } from './client-frames.ts';
import { count } from './ids.ts';
import { isObject } from './schema.ts';
import type { Schema } from './schema.ts';
import { serverFrames } from './server-frames.ts';
import type { ServerFrame } from './server-frames.ts';

export const SUBPROTOCOLS = ['tidemark.v1.json', 'tidemark.v1.msgpack'] as const;
export type Subprotocol = (typeof SUBPROTOCOLS)[number];

/**
 * `fatal`: the data is not a frame of the subprotocol, the socket closes with 4400. Otherwise the frame is answered by an
 * `error` frame (with `id` where the frame has one) and the socket stays (DT5).
 */
export type Undecoded =
  | { ok: false; fatal: true; message: string }
  | {
      ok: false;
      fatal: false;
      code: 'unknown_frame' | 'invalid_field';
      message: string;
      field?: string | undefined;
      id?: number | undefined;
    };
export type Decoded<F> = { ok: true; frame: F } | Undecoded;

export interface Codec {
  readonly subprotocol: Subprotocol;
  /** Frames travel as binary WebSocket messages. Data of the other kind (string or bytes) is fatal. */
  readonly binary: boolean;
  /** The bytes are the caller's own; frames that the schemas would refuse are a fault of the caller. */
  encode(frame: ClientFrame | ServerFrame): string | Uint8Array;
  decodeClient(data: string | Uint8Array): Decoded<ClientFrame>;
  decodeServer(data: string | Uint8Array): Decoded<ServerFrame>;
}

export function checkClientFrame(value: unknown): Decoded<ClientFrame> {
  return checkFrame<ClientFrame>(clientFrames, value);
}

export function checkServerFrame(value: unknown): Decoded<ServerFrame> {
  return checkFrame<ServerFrame>(serverFrames, value);
}

export function notAFrame(message: string): Undecoded {
  return { ok: false, fatal: true, message };
}

function checkFrame<F>(schemas: Record<string, Schema<F>>, value: unknown): Decoded<F> {
  if (!isObject(value)) return notAFrame('a frame is an object');
  const type = value['t'];
  if (typeof type !== 'string') return notAFrame('a frame has a type, the string t');
  const schema = Object.hasOwn(schemas, type) ? schemas[type] : undefined;
  const id = count.fault(value['id']) === null ? (value['id'] as number) : undefined;
  if (schema === undefined) {
    return { ok: false, fatal: false, code: 'unknown_frame', message: 'the frame type is not known', field: 't', id };
  }
  const fault = schema.fault(value);
  if (fault === null) return { ok: true, frame: value as F };
  return {
    ok: false,
    fatal: false,
    code: 'invalid_field',
    message: `${fault.field} ${fault.message}`,
    field: fault.field,
    id,
  };
}
