import { createConnection } from 'mysql2/promise';
import { startMariadb } from '../../loadtest/mariadb.ts';
import { Target } from '../../loadtest/target.ts';
import { startChild } from '../child.ts';
import { type Line, median } from '../line.ts';
import { LINUX, MARIADB, REDIS } from '../need.ts';
import { closeClients, openClients, type RawClient } from '../raw-sockets.ts';
import { secondsOf, startRedis } from '../redis-server.ts';

const MEMBERS = 2000;
/** One after the other, so that none can be merged with the next: merging has lines of its own. */
const MESSAGES = 15;
const ROUNDS = 7;
const CONNECTING = 100;
const CONV = 'hot';
const US_PER_SECOND = 1_000_000;
const HOUR_MS = 3_600_000;
const SHOWN_WITHIN_MS = 30_000;
const users = Array.from({ length: MEMBERS }, (_, i) => `user-${i}`);

/** Seconds or µs of processor. */
interface Spent {
  readonly node: number;
  readonly mariadb: number;
  readonly redis: number;
}

/** Everything behind the sockets: the node, the database and the state store. */
export const endToEnd: Line = {
  name: 'end to end against the usual pipeline',
  what: `badges a core-second of node, MariaDB and Redis together: messages to ${MEMBERS} who are connected, against a transaction a message, a script and a PUBLISH a member`,
  budget: { kind: 'at least', bound: 2, unit: '× the badges' },
  needs: [LINUX, MARIADB, REDIS],
  async run() {
    const mariadb = await startMariadb();
    const admin = await createConnection(mariadb.url);
    for (const name of ['tidemark', 'plain']) await admin.query(`CREATE DATABASE ${name}`);
    await admin.end();
    const urlOf = (database: string): string => new URL(database, mariadb.url).href;
    const [ourRedis, naiveRedis] = [await startRedis(), await startRedis()];
    const settings = {
      TIDEMARK_MYSQL_URL: urlOf('tidemark'),
      TIDEMARK_REDIS_URL: `redis://127.0.0.1:${ourRedis.port}`,
      // All are served one by one, as in the other pipeline.
      TIDEMARK_GROUP_THRESHOLD: String(2 * MEMBERS),
      // Nobody answers pings here.
      TIDEMARK_HEARTBEAT_MS: String(HOUR_MS),
    };
    const target = await Target.start({ settings });
    const naive = startChild('naive-pipeline.ts', urlOf('plain'), String(naiveRedis.port));
    try {
      const created = { type: 'conversation.created', conv: CONV, members: [...users, 'sender'] };
      await target.request('POST', '/v1/events', { events: [created] });
      await naive.ask('build', { users });
      const helloAs = (token: string) => ({ t: 'hello', token, device: 'phone', cursor: null }) as const;
      const port = Number(new URL(target.urls[0] as string).port);
      const ours = await openClients(port, MEMBERS, CONNECTING, (i) => helloAs(target.tokenOf(users[i] as string)));
      const theirs = await openClients(await naive.ask('listen'), MEMBERS, CONNECTING, (i) =>
        helloAs(users[i] as string),
      );
      let sent = 0;
      const post = async (): Promise<void> => {
        const event = { type: 'message.created', conv: CONV, message_id: `m${++sent}`, sender: 'sender' };
        await target.request('POST', '/v1/events', { events: [event] });
      };
      const spent = async (clients: readonly RawClient[], send: () => Promise<unknown>, cpu: () => Promise<Spent>) => {
        const since = await cpu();
        for (let i = 0; i < MESSAGES; i++) await shown(clients, send);
        const now = await cpu();
        const part = (of: keyof Spent): number => ((now[of] - since[of]) * US_PER_SECOND) / (MESSAGES * MEMBERS);
        return { node: part('node'), mariadb: part('mariadb'), redis: part('redis') };
      };
      const mariadbSeconds = (): number => secondsOf(mariadb.pid);
      const ourCpu = async (): Promise<Spent> => ({
        node: target.cpuSeconds() ?? NaN,
        mariadb: mariadbSeconds(),
        redis: ourRedis.serverSeconds(),
      });
      const naiveCpu = async (): Promise<Spent> => ({
        node: (await naive.ask<number>('cpuUs')) / US_PER_SECOND,
        mariadb: mariadbSeconds(),
        redis: naiveRedis.serverSeconds(),
      });
      const mine: Spent[] = [];
      const plain: Spent[] = [];
      // The first two compile the code.
      for (let round = -2; round < ROUNDS; round++) {
        const ourUs = await spent(ours, post, ourCpu);
        const naiveUs = await spent(theirs, () => naive.ask('post', { users }), naiveCpu);
        if (round < 0) continue;
        mine.push(ourUs);
        plain.push(naiveUs);
      }
      await closeClients([...ours, ...theirs]);
      return {
        value: median(mine.map((one, i) => sum(plain[i] as Spent) / sum(one))),
        detail: `a badge: ${described(mine)} against ${described(plain)} (medians)`,
      };
    } finally {
      await Promise.all([target.stop(), naive.stop()]);
      await Promise.all([ourRedis.stop(), naiveRedis.stop(), mariadb.stop()]);
    }
  },
};

function sum({ node, mariadb, redis }: Spent): number {
  return node + mariadb + redis;
}

function described(list: readonly Spent[]): string {
  const part = (of: keyof Spent): string => median(list.map((one) => one[of])).toFixed(1);
  return `${median(list.map(sum)).toFixed(1)} µs (node ${part('node')}, MariaDB ${part('mariadb')}, Redis ${part('redis')})`;
}

/** Resolves when each has heard of it. */
async function shown(clients: readonly RawClient[], send: () => Promise<unknown>): Promise<void> {
  const before = clients.map(({ bytes }) => bytes);
  await send();
  const untilMs = performance.now() + SHOWN_WITHIN_MS;
  while (clients.some(({ bytes }, i) => bytes === before[i])) {
    if (performance.now() > untilMs) throw new Error('a message was not shown everywhere');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
