import { digestText, limits, type PullAnswer, text } from '../../protocol/index.ts';
import { toWireRow } from '../core/row.ts';
import { nextPage } from '../core/snapshot-pages.ts';
import { UserFault } from '../errors.ts';
import type { Metrics } from '../metrics.ts';
import { type Answer, answerFields, type Question, resync } from '../services/resync.ts';
import type { Services } from '../services/services.ts';
import { queryCount, queryId, queryRows, queryText } from './request-fields.ts';
import type { ApiContext, Route } from './route.ts';

export interface SyncDeps {
  readonly sync: Pick<Services['sync'], 'pull' | 'diverged'>;
  readonly metrics: Metrics;
  /** Throws when this user asks too often. */
  readonly limitPulls: (user: string) => void;
}

const pageText = text(1, limits.pageTokenBytesMax, 'a page token');
const PAGE_ROWS = { usual: limits.pageRowsDefault, most: limits.pageRowsMax };

/**
 * The pull fallback for where sockets are blocked: answers a cursor like a socket does (SY2, DT7), in one object. A delta comes
 * whole, a snapshot in pages by `next`; what changes meanwhile is the delta of the next question (SY6).
 */
export function syncRoutes({ sync, metrics, limitPulls }: SyncDeps): Route[] {
  return [
    {
      method: 'GET',
      path: '/v1/sync',
      access: 'token',
      answer: async (c) => {
        const caller = c.get('caller');
        if (caller === undefined) throw new UserFault('unauthorized', 'a user token is needed');
        limitPulls(caller.user);
        const maxRows = queryRows(c, 'max_rows', PAGE_ROWS);
        const reader = { view: sync.pull.bind(sync), diverged: sync.diverged.bind(sync) };
        const answer = await resync(reader, caller.user, questionOf(c));
        metrics.synced(answer.mode, answer.reason);
        if (answer.reason === 'ahead') metrics.versionRegressed();
        const tag = `W/"${answer.head.epoch}.${answer.head.syncVersion}"`;
        c.header('etag', tag);
        c.header('cache-control', 'private, no-cache');
        if (answer.mode === 'noop' && isKnown(c, tag)) return c.body(null, 304);
        return c.json(bodyOf(answer, maxRows, caller.expiresAtMs));
      },
    },
  ];
}

/** A snapshot that is resumed stays at its version; what changed since is the delta of the next question. */
function bodyOf(answer: Answer, maxRows: number, expiresAtMs: number): PullAnswer {
  const fields = answerFields(answer, expiresAtMs);
  if (answer.pages === null) return { ...fields, rows: answer.catchUp?.rows.map(toWireRow) ?? [] };
  const { rows, next } = nextPage(answer.pages, maxRows).frame;
  return next === undefined ? { ...fields, rows } : { ...fields, rows, next };
}

function questionOf(c: ApiContext): Question {
  const epoch = queryId(c, 'epoch');
  const syncVersion = queryCount(c, 'sync_version');
  if ((epoch === undefined) !== (syncVersion === undefined)) {
    const missing = epoch === undefined ? 'epoch' : 'sync_version';
    throw new UserFault('invalid_field', `${missing} is missing: a cursor is both`, missing);
  }
  return {
    kind: 'hello',
    cursor: epoch === undefined || syncVersion === undefined ? null : { epoch, sync_version: syncVersion },
    digest: queryText(c, 'digest', digestText),
    page: queryText(c, 'page', pageText),
  };
}

/** RFC 9110 §13.1.2: a list of tags, compared weakly, or `*`. */
function isKnown(c: ApiContext, tag: string): boolean {
  const given = c.env.incoming.headers['if-none-match'] ?? '';
  const known = given.split(',').map((one) => one.trim().replace(/^W\//, ''));
  return known.includes('*') || known.includes(tag.replace(/^W\//, ''));
}
