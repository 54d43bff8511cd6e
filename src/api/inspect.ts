import { streamSSE } from 'hono/streaming';
import { integer, type WatchedChange } from '../../protocol/index.ts';
import { type Log, logError } from '../log.ts';
import type { Change } from '../ports.ts';
import type { Services } from '../services/services.ts';
import { pathId, queryCount } from './request-fields.ts';
import type { Route } from './route.ts';

interface InspectRoutesDeps extends Pick<Services, 'inspect' | 'watch'> {
  readonly log: Log;
}

const NEWEST_DEFAULT = 200;
const NEWEST_MAX = 1000;
const newest = integer(0, NEWEST_MAX);

/** What the inspector looks at; the page itself is `inspector/`. */
export function inspectRoutes({ inspect, watch, log }: InspectRoutesDeps): Route[] {
  return [
    {
      method: 'GET',
      path: '/v1/users/:user/inspect',
      access: 'key',
      answer: async (c) => {
        const user = pathId(c, 'user');
        return c.json(await inspect.inspect(user, queryCount(c, 'newest', newest) ?? NEWEST_DEFAULT));
      },
    },
    {
      method: 'GET',
      path: '/v1/users/:user/changes',
      access: 'key',
      answer: async (c) => {
        const watched = await watch.open(pathId(c, 'user'), c.get('deadline'));
        // A HEAD has the answer without the stream, which nobody then reads or cancels.
        c.env.outgoing.once('close', () => watched.close());
        const answer = streamSSE(c, async (stream) => {
          stream.onAbort(() => watched.close());
          try {
            for (let changes = await watched.next(); changes !== null; changes = await watched.next()) {
              // A comment now and then, by which both sides find a connection that is lost.
              if (changes.length === 0) await stream.write(':\n\n');
              for (const change of changes) await stream.writeSSE({ data: JSON.stringify(onWire(change)) });
            }
          } catch (error) {
            logError(log, error, 'the changes of a user can no longer be watched');
          } finally {
            watched.close();
          }
        });
        // Kept alive, it would outlive the last request when the server stops.
        answer.headers.set('connection', 'close');
        return answer;
      },
    },
  ];
}

function onWire({ epoch, baseVersion, syncVersion, op, total, badge, mentions, digest, rows }: Change): WatchedChange {
  const versions = { epoch, base_version: baseVersion, sync_version: syncVersion };
  return { ...versions, op, total, badge, mentions, digest, rows: [...rows] };
}
