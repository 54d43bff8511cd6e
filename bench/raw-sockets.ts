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
}

const HEAD_END = '\r\n\r\n';
const READ_BYTES = 65_536;
/** All sockets read into it, since nobody looks at what was read once it has been counted. */
const shared = Buffer.alloc(READ_BYTES);

/** Opens so many, `width` at a time. `hello`: what each says when it is connected; then its first answer is waited for. */
export async function openClients(
  port: number,
  count: number,
  width: number,
  hello: ((i: number) => ClientFrame) | null = null,
): Promise<RawClient[]> {
  const clients: RawClient[] = [];
  const numbers = Array.from({ length: count }, (_, i) => i);
  await inParallel(numbers, width, async (i) => {
    clients[i] = await openClient(
      port,
      hello === null ? null : maskedMessage(msgpackCodec.encode(hello(i)) as Uint8Array),
    );
  });
  return clients;
}

export async function closeClients(clients: readonly RawClient[]): Promise<void> {
  for (const { socket } of clients) socket.resetAndDestroy();
  await new Promise((resolve) => setTimeout(resolve, 200));
}

function openClient(port: number, hello: Buffer | null): Promise<RawClient> {
  return new Promise((resolve, reject) => {
    const sinceMs = performance.now();
    const ready = (): void => {
      if (client.readyMs === 0) client.readyMs = performance.now() - sinceMs;
      resolve(client);
    };
    let isUpgraded = false;
    const onread = {
      buffer: shared,
      callback(bytes: number, buffer: Uint8Array): boolean {
        if (isUpgraded) {
          if (client.bytes === 0 && !isWelcome(buffer)) reject(new Error('the hello was not answered by a welcome'));
          client.bytes += bytes;
          ready();
          return true;
        }
        const head = Buffer.from(buffer.buffer, buffer.byteOffset, bytes).toString('latin1');
        if (!head.startsWith('HTTP/1.1 101') || !head.endsWith(HEAD_END)) reject(new Error(`no handshake: ${head}`));
        isUpgraded = true;
        if (hello === null) ready();
        else socket.write(hello);
        return true;
      },
    };
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread }, () => socket.write(request(port)));
    const client: RawClient = { socket, bytes: 0, readyMs: 0 };
    socket.on('error', reject);
    socket.once('close', () => reject(new Error('the socket was closed')));
  });
}

/** The first frame of a gateway, which is always a short one. */
function isWelcome(bytes: Uint8Array): boolean {
  const end = 2 + (bytes[1] as number);
  const decoded = msgpackCodec.decodeServer(bytes.slice(2, end));
  return decoded.ok && decoded.frame.t === 'welcome';
}

function request(port: number): string {
  const lines = [
    'GET /v1/ws HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Protocol: ${msgpackCodec.subprotocol}`,
  ];
  return `${lines.join('\r\n')}${HEAD_END}`;
}

/** One binary message of a client (RFC 6455 §5.2); a mask of zeros is one. */
function maskedMessage(payload: Uint8Array): Buffer {
  const isShort = payload.length < 126;
  const header = Buffer.alloc((isShort ? 2 : 4) + 4);
  header[0] = 0x82;
  header[1] = 0x80 | (isShort ? payload.length : 126);
  if (!isShort) header.writeUInt16BE(payload.length, 2);
  return Buffer.concat([header, payload]);
}
