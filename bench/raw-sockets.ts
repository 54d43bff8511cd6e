/** Clients that cost next to nothing: raw sockets that shake hands, say what they are told, and count what comes. */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { inParallel } from '../loadtest/in-parallel.ts';
import { type ClientFrame, msgpackCodec } from '../protocol/index.ts';

export interface RawClient {
  readonly socket: Socket;
  /** Bytes that came behind the handshake. */
  bytes: number;
  /** From dialling until it was answered. */
  readyMs: number;
  /** Called with what comes behind the answer. */
  onBytes: (() => void) | null;
}

/** How a client of some server begins. */
export interface Opening {
  readonly path: string;
  readonly subprotocol?: string;
  /** What each says when it is connected, as a frame; then its answer is waited for. null: nothing. */
  readonly first: ((i: number) => Buffer) | null;
  /** Whether what came is the answer, or more has to come; throws when it is another. */
  readonly isAnswer: (bytes: Buffer) => boolean;
}

const HEAD_END = '\r\n\r\n';
const READ_BYTES = 65_536;
/** All sockets read into it, since nobody looks at what was read once it has been counted. */
const shared = Buffer.alloc(READ_BYTES);

/** Clients of a gateway, or of a server that does not look at what they say. */
export async function openClients(
  port: number,
  count: number,
  width: number,
  hello: ((i: number) => ClientFrame) | null = null,
): Promise<RawClient[]> {
  const { subprotocol } = msgpackCodec;
  const first = hello && ((i: number) => maskedBinary(msgpackCodec.encode(hello(i)) as Uint8Array));
  return openSockets(port, count, width, { path: '/v1/ws', subprotocol, first, isAnswer: isWelcome });
}

/** Opens so many, `width` at a time. */
export async function openSockets(port: number, count: number, width: number, opening: Opening): Promise<RawClient[]> {
  const clients: RawClient[] = [];
  const numbers = Array.from({ length: count }, (_, i) => i);
  await inParallel(numbers, width, async (i) => {
    clients[i] = await openSocket(port, opening, opening.first?.(i) ?? null);
  });
  return clients;
}

export async function closeClients(clients: readonly RawClient[]): Promise<void> {
  for (const { socket } of clients) socket.resetAndDestroy();
  await new Promise((resolve) => setTimeout(resolve, 200));
}

const SHOWN_WITHIN_MS = 30_000;

/** Resolves when each has heard of what `send` does. */
export async function shown(clients: readonly RawClient[], send: () => Promise<unknown>): Promise<void> {
  const waiting = new Set(clients);
  let timer: NodeJS.Timeout | undefined;
  const all = new Promise<void>((resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${waiting.size} did not hear of it`)), SHOWN_WITHIN_MS);
    if (waiting.size === 0) resolve();
    for (const client of clients) {
      client.onBytes = () => {
        client.onBytes = null;
        waiting.delete(client);
        if (waiting.size === 0) resolve();
      };
    }
  });
  try {
    await Promise.all([send(), all]);
  } finally {
    clearTimeout(timer);
  }
}

function openSocket(port: number, { path, subprotocol, isAnswer }: Opening, first: Buffer | null): Promise<RawClient> {
  return new Promise((resolve, reject) => {
    const sinceMs = performance.now();
    const ready = (): void => {
      client.readyMs = performance.now() - sinceMs;
      resolve(client);
    };
    let isUpgraded = false;
    const upgraded = (bytes: Buffer): Buffer => {
      const end = bytes.indexOf(HEAD_END);
      const head = bytes.toString('latin1');
      if (end < 0 || !head.startsWith('HTTP/1.1 101')) throw new Error(`no handshake: ${head}`);
      isUpgraded = true;
      if (first === null) ready();
      else socket.write(first);
      return bytes.subarray(end + HEAD_END.length);
    };
    const onread = {
      buffer: shared,
      callback(length: number, { buffer, byteOffset }: Uint8Array): boolean {
        try {
          const read = Buffer.from(buffer, byteOffset, length);
          const bytes = isUpgraded ? read : upgraded(read);
          if (bytes.length === 0) return true;
          client.bytes += bytes.length;
          if (client.readyMs > 0) client.onBytes?.();
          else if (isAnswer(bytes)) ready();
        } catch (error) {
          reject(error);
        }
        return true;
      },
    };
    const dialled = (): boolean => socket.write(request(port, path, subprotocol));
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread }, dialled);
    const client: RawClient = { socket, bytes: 0, readyMs: 0, onBytes: null };
    socket.on('error', reject);
    socket.once('close', () => reject(new Error('the socket was closed')));
  });
}

/** The first frame of a gateway, which is always a short one. */
function isWelcome(bytes: Buffer): true {
  const end = 2 + (bytes[1] as number);
  const decoded = msgpackCodec.decodeServer(Uint8Array.from(bytes.subarray(2, end)));
  if (!decoded.ok || decoded.frame.t !== 'welcome') {
    throw new Error(`the hello was not answered by a welcome but by ${JSON.stringify(decoded)}`);
  }
  return true;
}

function request(port: number, path: string, subprotocol?: string): string {
  const lines = [
    `GET ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    'Sec-WebSocket-Version: 13',
    ...(subprotocol === undefined ? [] : [`Sec-WebSocket-Protocol: ${subprotocol}`]),
  ];
  return `${lines.join('\r\n')}${HEAD_END}`;
}

/** Opcodes of RFC 6455 §5.2, of a frame that is the whole message. */
const TEXT = 0x81;
const BINARY = 0x82;

function maskedBinary(payload: Uint8Array): Buffer {
  return masked(BINARY, payload);
}

export function maskedText(text: string): Buffer {
  return masked(TEXT, Buffer.from(text));
}

/** One message of a client; a mask of zeros is one. */
function masked(opcode: number, payload: Uint8Array): Buffer {
  const isShort = payload.length < 126;
  const header = Buffer.alloc((isShort ? 2 : 4) + 4);
  header[0] = opcode;
  header[1] = 0x80 | (isShort ? payload.length : 126);
  if (!isShort) header.writeUInt16BE(payload.length, 2);
  return Buffer.concat([header, payload]);
}
