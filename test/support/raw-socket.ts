import { createHash, randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';

/**
 * A WebSocket client that does what it is told, frame by frame and byte by byte, also what no client may do. It answers no ping, and
 * a close frame by hanging up.
 */
export interface RawSocket {
  readonly socket: Socket;
  /** JSON frames received and not yet taken. */
  readonly inbox: Frame[];
  /** Everything received, in order. */
  readonly log: Frame[];
  /** Payloads of binary messages received. */
  readonly binary: Buffer[];
  pings: number;
  pongs: number;
  send(frame: object | string): void;
  bytes(...parts: (Buffer | readonly number[])[]): void;
  /** Takes the next frame of this type; what came before it is dropped. Fails when the socket ends first. */
  next(type: string): Promise<Frame>;
  /** Resolves when the connection has ended. */
  readonly ended: Promise<Ending>;
  pause(): void;
  resume(): void;
  /** Cuts the line. */
  cut(): void;
  /** A proper close frame. */
  close(code?: number): void;
}

export type Frame = { readonly t: string } & Record<string, unknown>;

export interface Ending {
  /** Of the close frame; null: the connection ended without one. */
  readonly code: number | null;
  readonly reason: string;
  readonly bye: Frame | undefined;
}

export interface RawHandshake {
  readonly path?: string;
  /** null: none offered. */
  readonly protocol?: string | null;
  readonly headers?: Record<string, string>;
  /** Sent in the same write as the handshake. */
  readonly head?: Buffer;
}

export interface Refused {
  readonly status: number;
  readonly headers: string;
}

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

export const Opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface RawFrame {
  readonly opcode?: number;
  readonly fin?: boolean;
  /** RSV1, RSV2, RSV3 as bits 4, 2, 1. */
  readonly rsv?: number;
  readonly masked?: boolean;
  /** What the header claims, where that is not the length of the payload. */
  readonly length?: number;
}

/** One frame as a client sends it. */
export function rawFrame(payload: string | Buffer, given: RawFrame = {}): Buffer {
  const { opcode = Opcode.text, fin = true, rsv = 0, masked = true } = given;
  const data = Buffer.from(payload as string);
  const length = given.length ?? data.length;
  const header = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  header[0] = (fin ? 0x80 : 0) | (rsv << 4) | opcode;
  header[1] = length < 126 ? length : length < 65_536 ? 126 : 127;
  if (header.length === 4) header.writeUInt16BE(length, 2);
  if (header.length === 10) header.writeBigUInt64BE(BigInt(length), 2);
  if (!masked) return Buffer.concat([header, data]);
  header[1] |= 0x80;
  const mask = randomBytes(4);
  return Buffer.concat([header, mask, data.map((byte, i) => byte ^ (mask[i % 4] as number))]);
}

/** Answers the socket, or how the handshake was refused. */
export async function openRaw(port: number, handshake: RawHandshake = {}): Promise<RawSocket | Refused> {
  const { path = '/v1/ws', protocol = 'tidemark.v1.json', headers = {}, head = Buffer.alloc(0) } = handshake;
  const key = randomBytes(16).toString('base64');
  const lines = {
    Host: `127.0.0.1:${port}`,
    Upgrade: 'websocket',
    Connection: 'Upgrade',
    'Sec-WebSocket-Key': key,
    'Sec-WebSocket-Version': '13',
    ...(protocol === null ? {} : { 'Sec-WebSocket-Protocol': protocol }),
    ...headers,
  };
  const socket = connect(port, '127.0.0.1');
  socket.setNoDelay();
  const request = `GET ${path} HTTP/1.1\r\n${Object.entries(lines)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;
  socket.write(Buffer.concat([Buffer.from(request), head]));
  const { answer, rest } = await readHead(socket);
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
  if (status !== 101) {
    socket.destroy();
    return { status, headers: answer };
  }
  const accept = createHash('sha1')
    .update(key + GUID)
    .digest('base64');
  if (!answer.includes(`Sec-WebSocket-Accept: ${accept}`)) throw new Error(`a handshake that cannot be: ${answer}`);
  return rawSocket(socket, rest);
}

function readHead(socket: Socket): Promise<{ answer: string; rest: Buffer }> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const onData = (chunk: Buffer): void => {
      received = Buffer.concat([received, chunk]);
      const end = received.indexOf('\r\n\r\n');
      if (end < 0) return;
      socket.off('data', onData);
      socket.off('error', reject);
      resolve({ answer: received.subarray(0, end).toString(), rest: received.subarray(end + 4) });
    };
    socket.on('data', onData);
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the connection was cut in the middle of the handshake')));
  });
}

function rawSocket(socket: Socket, first: Buffer): RawSocket {
  const inbox: Frame[] = [];
  const log: Frame[] = [];
  const binary: Buffer[] = [];
  let waiting: (() => void)[] = [];
  let received = Buffer.alloc(0);
  let closed: { code: number | null; reason: string } = { code: null, reason: '' };
  let isOver = false;
  const wake = (): void => {
    const listeners = waiting;
    waiting = [];
    for (const listener of listeners) listener();
  };
  const { promise: ended, resolve: end } = Promise.withResolvers<Ending>();
  const raw: RawSocket = {
    socket,
    inbox,
    log,
    binary,
    pings: 0,
    pongs: 0,
    ended,
    send: (frame) => void socket.write(rawFrame(typeof frame === 'string' ? frame : JSON.stringify(frame))),
    bytes: (...parts) => void socket.write(Buffer.concat(parts.map((part) => Buffer.from(part as Buffer)))),
    async next(type) {
      for (;;) {
        while (inbox.length > 0) {
          const frame = inbox.shift() as Frame;
          if (frame.t === type) return frame;
        }
        if (isOver)
          throw new Error(
            `the socket ended (${closed.code}) before a frame of type ${type}; got ${JSON.stringify(log)}`,
          );
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    cut: () => void socket.destroy(),
    close(code = 1000) {
      const payload = Buffer.alloc(2);
      payload.writeUInt16BE(code);
      socket.write(rawFrame(payload, { opcode: Opcode.close }));
    },
  };

  function take(): boolean {
    if (received.length < 2) return false;
    const short = (received[1] as number) & 0x7f;
    const headerLength = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (received.length < headerLength) return false;
    const length = short < 126 ? short : short === 126 ? received.readUInt16BE(2) : Number(received.readBigUInt64BE(2));
    if (received.length < headerLength + length) return false;
    const opcode = (received[0] as number) & 0x0f;
    const payload = received.subarray(headerLength, headerLength + length);
    received = received.subarray(headerLength + length);
    if (opcode === Opcode.text) {
      const frame = JSON.parse(payload.toString()) as Frame;
      inbox.push(frame);
      log.push(frame);
    } else if (opcode === Opcode.binary) binary.push(Buffer.from(payload));
    else if (opcode === Opcode.ping) raw.pings++;
    else if (opcode === Opcode.pong) raw.pongs++;
    else if (opcode === Opcode.close) {
      closed = { code: payload.length >= 2 ? payload.readUInt16BE(0) : 1005, reason: payload.subarray(2).toString() };
      if (!socket.writableEnded) socket.end();
    }
    return true;
  }

  function onData(chunk: Buffer): void {
    received = Buffer.concat([received, chunk]);
    while (take());
    wake();
  }

  socket.on('data', onData);
  socket.on('error', () => {});
  socket.on('close', () => {
    isOver = true;
    wake();
    end({ ...closed, bye: log.find(({ t }) => t === 'bye') });
  });
  if (first.length > 0) onData(first);
  return raw;
}
