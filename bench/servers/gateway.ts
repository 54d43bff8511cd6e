/**
 * Our gateway on a real HTTP server, with the real services behind it. All users have the rows of one, and nobody else's are held,
 * so that what a socket costs does not hide behind what a state costs.
 */
import { jsonCodec } from '../../protocol/index.ts';
import { msgpackCodec } from '../../protocol/codec-msgpack.ts';
import { createHttpServer } from '../../src/api/http-server.ts';
import { defaultGatewaySettings } from '../../src/gateway/deps.ts';
import { createGateway } from '../../src/gateway/server.ts';
import { createLog } from '../../src/log.ts';
import { createMetrics } from '../../src/metrics.ts';
import type { Change, StateStore } from '../../src/ports.ts';
import { systemClock, systemRandom } from '../../src/system.ts';
import { createUserTokens } from '../../src/user-tokens.ts';
import { answerQuestions, cpuUs, pushTimes, restingRss } from '../child.ts';
import { openEmbedded, post } from '../embedded.ts';

const EVERYBODY = 'everybody';
const CONVERSATIONS = 50;
const HOUR_MS = 3_600_000;
let reads = 0;

const embedded = openEmbedded((inner): StateStore => ({
  ...inner,
  async read(user, sinceVersion) {
    reads++;
    const view = await inner.read(EVERYBODY, sinceVersion);
    return view && { ...view, user };
  },
  beginBuild: (_user, token, takeOverAfterMs) => inner.beginBuild(EVERYBODY, token, takeOverAfterMs),
  completeBuild: (_user, token, epoch, rows) => inner.completeBuild(EVERYBODY, token, epoch, rows),
}));
const { services, wakeup, counted } = embedded;
const metrics = createMetrics();
const log = createLog('warn');
const tokens = createUserTokens({ secrets: ['s'.repeat(32)], audience: '', issuer: '', clock: systemClock });
const gateway = createGateway({
  services,
  wakeup,
  verifyToken: (text) => tokens.verify(text),
  codecs: [jsonCodec, msgpackCodec],
  clock: systemClock,
  random: systemRandom,
  metrics,
  log,
  // Nobody answers pings here.
  settings: { ...defaultGatewaySettings, heartbeatMs: HOUR_MS },
});
wakeup.subscribe(gateway.listener);
const http = createHttpServer((_request, response) => response.end(), systemClock);
http.server.on('upgrade', (request, stream, head) => gateway.handleUpgrade(request, stream, head));

for (let i = 0; i < CONVERSATIONS; i++) {
  const conv = conversationOf(i);
  await post(embedded, [
    { type: 'conversation.created', conv, members: [EVERYBODY, 'sender'] },
    { type: 'message.created', conv, message_id: 'm', sender: 'sender' },
  ]);
}
const { epoch, syncVersion, total, digest } = await services.sync.view(EVERYBODY);
let version = syncVersion;

function conversationOf(i: number): string {
  return `conv-${String(i).padStart(5, '0')}`;
}

function userOf(i: number): string {
  return `user-${i}`;
}

/** One new row, as a message to a conversation of the user makes it: another one for each user and round. */
function changeOf(i: number): Change {
  const row = {
    conv: conversationOf(i % CONVERSATIONS),
    version: version + 1,
    unread: version,
    mentions: 0,
    read_seq: i % 1000,
    read_epoch: 0,
    head_seq: (i % 1000) + version,
  };
  const sums = { total: total + version, badge: total + version, mentions: 0, digest };
  return {
    user: userOf(i),
    epoch,
    baseVersion: version,
    syncVersion: version + 1,
    op: 'message',
    rows: [row],
    ...sums,
  };
}

answerQuestions({
  listen: async () => Number(new URL(await http.listen('127.0.0.1', 0)).port),
  cpuUs,
  rss: restingRss,
  sockets: () => gateway.connections,
  cost: () => ({ reads, statements: counted.statements }),
  /** Of every user the token, and where a device stands that has all. */
  hellos: async ({ count }: { count: number }) => {
    const expiresAtMs = systemClock.nowMs() + HOUR_MS;
    const one = async (_: unknown, i: number) => tokens.sign({ user: userOf(i), device: null, expiresAtMs });
    const cursor = { epoch, sync_version: syncVersion };
    return { tokens: await Promise.all(Array.from({ length: count }, one)), cursor, digest };
  },
  /** Every socket has to stand at the version before. */
  push: async ({ times, sockets }: { times: number; sockets: number }) =>
    pushTimes(sockets, times, () => {
      const changes = Array.from({ length: sockets }, (_, i) => changeOf(i));
      version++;
      return () => gateway.listener.changes(changes);
    }),
});
