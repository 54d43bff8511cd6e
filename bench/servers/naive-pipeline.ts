/**
 * Messages the usual way: a transaction takes the next seq, then every member has a script run and is published to on a channel of their
 * own, to which the node of their socket has subscribed; what comes there is written to the socket.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { createConnection } from 'mysql2/promise';
import { type WebSocket, WebSocketServer } from 'ws';
import { msgpackCodec, type Welcome } from '../../protocol/index.ts';
import { answerQuestions, cpuUs } from '../child.ts';
import { NaiveState } from '../naive-state.ts';
import { PLAIN_TABLES, sendAlone } from '../plain-messages.ts';

const CONV = 'hot';
const WELCOME: Welcome = {
  t: 'welcome',
  conn: 'one',
  user: 'somebody',
  epoch: 'epoch',
  sync_version: 1,
  mode: 'noop',
  total: 0,
  badge: 0,
  mentions: 0,
  digest: '000000000000',
  expires_at: 1,
  heartbeat_ms: 25_000,
};

const [mysqlUrl = '', redisPort = ''] = process.argv.slice(2);
const truth = await createConnection(mysqlUrl);
for (const table of PLAIN_TABLES) await truth.query(table);
const options = { port: Number(redisPort), host: '127.0.0.1' };
const state = new NaiveState(new Redis(options));
const subscriber = new Redis(options);
const sockets = new Map<string, WebSocket>();
let seq = 0;

subscriber.on('messageBuffer', (channel: Buffer, message: Buffer) => sockets.get(channel.toString())?.send(message));
const http = createServer();
const server = new WebSocketServer({ server: http, perMessageDeflate: false });
server.on('connection', (socket) => {
  socket.once('message', (data: Buffer) => {
    const decoded = msgpackCodec.decodeClient(data);
    if (!decoded.ok || decoded.frame.t !== 'hello') return socket.close();
    const channel = `n:${decoded.frame.token}`;
    sockets.set(channel, socket);
    void subscriber.subscribe(channel).then(() => socket.send(msgpackCodec.encode(WELCOME)));
  });
  socket.on('error', () => {});
});

answerQuestions({
  async listen() {
    http.listen({ port: 0, host: '127.0.0.1', backlog: 4096 });
    await once(http, 'listening');
    return (http.address() as AddressInfo).port;
  },
  cpuUs,
  async build({ users }: { users: readonly string[] }) {
    for (const user of users) await state.build(user, [CONV]);
  },
  async post({ users }: { users: readonly string[] }) {
    await sendAlone(truth, `m${++seq}`);
    await state.message(users, CONV, seq);
  },
});
