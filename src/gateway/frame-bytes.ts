/**
 * One message as one unmasked, unfragmented WebSocket frame (RFC 6455 §5.2), header and payload in one buffer: a single write costs
 * less than two, and one buffer can be shared among sockets.
 */
const FIN = 0x80;
const OPCODE_TEXT = 0x1;
const OPCODE_BINARY = 0x2;
const OPCODE_PING = 0x9;
/** Payload lengths above these take 2 and 8 more bytes. */
const SHORT_LENGTH_MAX = 125;
const MEDIUM_LENGTH_MAX = 0xffff;
const MEDIUM_LENGTH = 126;
const LONG_LENGTH = 127;

/** An empty ping: answered by every WebSocket implementation, without the application's help. */
export const PING_FRAME: Buffer = Buffer.from([FIN | OPCODE_PING, 0]);

/** A string becomes a text message, bytes become a binary one. */
export function messageFrame(payload: string | Uint8Array): Buffer {
  const isText = typeof payload === 'string';
  const length = isText ? Buffer.byteLength(payload) : payload.length;
  const headerLength = length <= SHORT_LENGTH_MAX ? 2 : length <= MEDIUM_LENGTH_MAX ? 4 : 10;
  const frame = Buffer.allocUnsafe(headerLength + length);
  frame[0] = FIN | (isText ? OPCODE_TEXT : OPCODE_BINARY);
  if (length <= SHORT_LENGTH_MAX) frame[1] = length;
  else if (length <= MEDIUM_LENGTH_MAX) {
    frame[1] = MEDIUM_LENGTH;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = LONG_LENGTH;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  if (isText) frame.write(payload, headerLength);
  else frame.set(payload, headerLength);
  return frame;
}
