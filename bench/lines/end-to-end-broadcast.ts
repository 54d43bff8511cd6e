import { type Child, startChild } from '../child.ts';
import { startInstallation } from '../installation.ts';
import { type Line, median, ROUNDS } from '../line.ts';
import { LINUX, MARIADB, REDIS } from '../need.ts';
import { closeClients, openClients, type RawClient, shown } from '../raw-sockets.ts';

/** Each with one message on its way, so that none can be merged with the next and nobody waits for the slowest of another group. */
const GROUPS = 4;
const MEMBERS = 1000;
const MESSAGES = 10;
const BADGES = GROUPS * MEMBERS * MESSAGES;
const CONNECTING = 100;
const FRAME_BYTES = 44;
const US_PER_SECOND = 1_000_000;

type Group = readonly RawClient[];

/** Of a badge: how long until the next, and how much of it the process at the sockets was at work. */
interface Spent {
  readonly us: number;
  readonly cpuUs: number;
}

/** The floor of every gateway: one frame that somebody else has made, written to all. Ours makes one of its own for each. */
export const endToEndBroadcast: Line = {
  name: 'end to end against a raw broadcast',
  what: `badges a second, from the event over MariaDB and Redis to ${GROUPS * MEMBERS} sockets, with one message on its way to each of ${GROUPS} groups, against one shared, framed buffer written by \`ws\` in the same way`,
  budget: { kind: 'at least', bound: 0.6, unit: '× the badges a second' },
  needs: [LINUX, MARIADB, REDIS],
  async run() {
    // All are served one by one.
    const installation = await startInstallation({ TIDEMARK_GROUP_THRESHOLD: String(2 * MEMBERS) });
    const bare = startChild('bare-ws.ts');
    try {
      const { target } = installation;
      const ours: Group[] = [];
      const theirs: Group[] = [];
      const port = await bare.ask<number>('listen');
      for (let group = 0; group < GROUPS; group++) {
        const users = Array.from({ length: MEMBERS }, (_, i) => `user-${group}-${i}`);
        const created = { type: 'conversation.created', conv: convOf(group), members: [...users, 'sender'] };
        await target.request('POST', '/v1/events', { events: [created] });
        ours.push(await installation.connect(users));
        theirs.push(await openClients(port, MEMBERS, CONNECTING));
      }
      let sent = 0;
      const post = (group: number): Promise<unknown> => {
        const event = { type: 'message.created', conv: convOf(group), message_id: `m${++sent}`, sender: 'sender' };
        return target.request('POST', '/v1/events', { events: [event] });
      };
      const ourCpuUs = async (): Promise<number> => (target.cpuSeconds() ?? NaN) * US_PER_SECOND;
      const mine: Spent[] = [];
      const plain: Spent[] = [];
      // The first of them compile the code.
      for (let round = -3; round < ROUNDS; round++) {
        const own = await spent(ours, post, ourCpuUs);
        const raw = await spent(
          theirs,
          (group) => broadcast(bare, group),
          () => bare.ask('cpuUs'),
        );
        if (round < 0) continue;
        mine.push(own);
        plain.push(raw);
      }
      await closeClients([...ours, ...theirs].flat());
      return {
        value: median(mine.map(({ us }, i) => (plain[i] as Spent).us / us)),
        detail: `${described(mine)} of the node · ${described(plain)} of \`ws\` (medians)`,
      };
    } finally {
      await Promise.all([installation.stop(), bare.stop()]);
    }
  },
};

function convOf(group: number): string {
  return `group-${group}`;
}

function broadcast(bare: Child, group: number): Promise<number> {
  const places = { from: group * MEMBERS, to: (group + 1) * MEMBERS };
  return bare.ask('push', { times: 1, bytes: FRAME_BYTES, ...places });
}

async function spent(
  groups: readonly Group[],
  send: (group: number) => Promise<unknown>,
  cpuUs: () => Promise<number>,
): Promise<Spent> {
  const cpuSinceUs = await cpuUs();
  const sinceMs = performance.now();
  await Promise.all(
    groups.map(async (clients, group) => {
      for (let i = 0; i < MESSAGES; i++) await shown(clients, () => send(group));
    }),
  );
  const us = ((performance.now() - sinceMs) * 1000) / BADGES;
  return { us, cpuUs: ((await cpuUs()) - cpuSinceUs) / BADGES };
}

function described(list: readonly Spent[]): string {
  const perSecond = Math.round(US_PER_SECOND / median(list.map(({ us }) => us)));
  return `${perSecond} badges a second, ${median(list.map(({ cpuUs }) => cpuUs)).toFixed(1)} µs of processor each`;
}
