/** Socket.IO as it comes, over its WebSocket transport, which does nothing but hold sockets and emit to each. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from 'socket.io';
import { answerQuestions, pushTimes } from '../child.ts';

const HOUR_MS = 3_600_000;
const http = createServer();
// Nobody answers pings here.
const server = new Server(http, { transports: ['websocket'], pingInterval: HOUR_MS });

answerQuestions({
  async listen() {
    http.listen({ port: 0, host: '127.0.0.1', backlog: 4096 });
    await once(http, 'listening');
    return (http.address() as AddressInfo).port;
  },
  /** The least that an app would say of a row: to each socket something of its own. */
  push: async ({ times }: { times: number }) => {
    const sockets = [...server.sockets.sockets.values()];
    return pushTimes(sockets.length, times, (round) => {
      const rows = sockets.map((_, i) => ({ conv: `conv-${i % 50}`, unread: round, total: i }));
      return () => sockets.forEach((socket, i) => socket.emit('row', rows[i]));
    });
  },
});
