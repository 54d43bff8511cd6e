import { setTimeout as sleep } from 'node:timers/promises';
import { openCommandFeed } from '../command-feed.ts';
import { type Installation, startInstallation } from '../installation.ts';
import type { Line } from '../line.ts';
import { MARIADB, REDIS } from '../need.ts';
import { closeClients, type RawClient, shown } from '../raw-sockets.ts';

const MEMBERS = 100_000;
const ONLINE = 300;
const MESSAGES = 7;
const CONV = 'large';
const USERS_AN_EVENT = 10_000;
/** Notices of a large conversation are held back for half a second, so that more can join them. */
const REST_MS = 1000;
/** Longer than a change is left to the node that began it, so that nothing of the joining is owed any more. */
const QUIET_MS = 8000;
/** A node looks every second whether it still speaks with the same server, whether there are messages or not. */
const LOOK = 'info';

const users = Array.from({ length: MEMBERS }, (_, i) => `user-${i}`);

/** CN8: a message to a large conversation costs what its online members cost, and nothing for the others. */
export const largeGroup: Line = {
  name: 'a message to 100,000 members, calls of the state',
  what: `commands that arrive at Redis (MONITOR) for one message, scripts and wake-ups, for each of ${ONLINE} members who are online; the worst of ${MESSAGES}`,
  budget: { kind: 'at most', bound: 1, unit: 'calls an online member', isCounted: true },
  needs: [MARIADB, REDIS],
  async run() {
    const installation = await startInstallation();
    const feed = await openCommandFeed(installation.redis.port);
    try {
      await makeGroup(installation);
      while (sum(await feed.during(() => sleep(QUIET_MS))) > 0);
      let sent = 0;
      const countsOf = (clients: readonly RawClient[]): Promise<Map<string, number>> =>
        feed.during(async () => {
          await shown(clients, () =>
            post(installation, { type: 'message.created', message_id: `m${++sent}`, sender: 'user-0' }),
          );
          await sleep(REST_MS);
        });
      const withNobody = await countsOf([]);
      const clients = await installation.connect(users.slice(-ONLINE));
      let worst = new Map<string, number>();
      for (let i = 0; i < MESSAGES; i++) {
        const counts = await countsOf(clients);
        if (sum(counts) > sum(worst)) worst = counts;
      }
      await closeClients(clients);
      return {
        value: sum(worst) / ONLINE,
        detail: `${ONLINE} online: ${described(worst)} · nobody: ${described(withNobody)}`,
      };
    } finally {
      feed.close();
      await installation.stop();
    }
  },
};

async function makeGroup(installation: Installation): Promise<void> {
  await post(installation, { type: 'conversation.created', members: users.slice(0, USERS_AN_EVENT) });
  for (let i = USERS_AN_EVENT; i < MEMBERS; i += USERS_AN_EVENT) {
    await post(installation, { type: 'member.joined', users: users.slice(i, i + USERS_AN_EVENT) });
  }
}

async function post({ target }: Installation, event: object): Promise<void> {
  await target.request('POST', '/v1/events', { events: [{ conv: CONV, ...event }] });
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts].reduce((total, [name, count]) => total + (name === LOOK ? 0 : count), 0);
}

function described(counts: ReadonlyMap<string, number>): string {
  const each = [...counts].filter(([name]) => name !== LOOK);
  return each.map(([name, count]) => `${count} ${name.toUpperCase()}`).join(', ');
}
