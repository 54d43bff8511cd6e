/** The baseline: `ws` as its documentation shows it, without compression, which does nothing but hold sockets and write to them. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { answerQuestions, cpuUs, pushTimes, restingRss } from '../child.ts';

const BACKLOG = 4096;
const http = createServer();
const server = new WebSocketServer({ server: http, perMessageDeflate: false });
server.on('connection', (socket) => {
  socket.on('message', () => {});
  socket.on('error', () => {});
});

/** The stream below a socket, which `ws` keeps to itself. */
function streamOf(socket: WebSocket): Duplex {
  return (socket as unknown as { _socket: Duplex })._socket;
}

answerQuestions({
  listen: () =>
    new Promise((resolve) => {
      http.listen({ port: 0, host: '127.0.0.1', backlog: BACKLOG }, () =>
        resolve((http.address() as AddressInfo).port),
      );
    }),
  cpuUs,
  rss: restingRss,
  sockets: () => server.clients.size,
  /** To the clients at these places, in the order in which they came; to all of them without. */
  push: ({ times, bytes, from = 0, to }: { times: number; bytes: number; from?: number; to?: number }) => {
    // One unmasked binary frame, header and all, for everybody.
    const frame = Buffer.alloc(bytes, 1);
    frame[0] = 0x82;
    frame[1] = bytes - 2;
    const clients = [...server.clients].slice(from, to);
    return pushTimes(clients.length, times, () => () => {
      for (const client of clients) if (client.readyState === WebSocket.OPEN) streamOf(client).write(frame);
    });
  },
});
