import {
  type Cursor,
  digestText,
  integer,
  limits,
  type PullAnswer,
  type SyncReason,
  text,
} from '../../protocol/index.ts';
import { beginCatchUp } from '../core/catch-up.ts';
import { planResync } from '../core/resync-plan.ts';
import { toWireRow } from '../core/row.ts';
import { beginSnapshot, nextPage, readPageToken, resumeSnapshot, type SnapshotCourse } from '../core/snapshot-pages.ts';
import { UserFault } from '../errors.ts';
import type { Metrics } from '../metrics.ts';
import type { StateHead } from '../ports.ts';
import type { Services } from '../services/services.ts';
import { queryCount, queryId, queryText } from './request-fields.ts';
import type { ApiContext, Route } from './route.ts';

export interface SyncDeps {
  readonly sync: Pick<Services['sync'], 'pull' | 'diverged'>;
  readonly metrics: Metrics;
  /** Throws when this user asks too often. */
  readonly limitPulls: (user: string) => void;
}

interface Question {
  readonly cursor: Cursor | null;
  readonly digest: string | undefined;
  readonly page: string | undefined;
  readonly maxRows: number;
}

type Answer = Omit<PullAnswer, 'expires_at'>;

const pageText = text(1, limits.pageTokenBytesMax, 'a page token');
const maxRowsRange = integer(1, limits.pageRowsMax);

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
        const answer = await pull(sync, caller.user, questionOf(c));
        metrics.synced(answer.mode, answer.reason);
        if (answer.reason === 'ahead') metrics.versionRegressed();
        const tag = `W/"${answer.epoch}.${answer.sync_version}"`;
        c.header('etag', tag);
        c.header('cache-control', 'private, no-cache');
        if (answer.mode === 'noop' && isKnown(c, tag)) return c.body(null, 304);
        return c.json({ ...answer, expires_at: caller.expiresAtMs });
      },
    },
  ];
}

async function pull(sync: SyncDeps['sync'], user: string, question: Question): Promise<Answer> {
  const { cursor, digest, maxRows } = question;
  const token = question.page === undefined ? null : readPageToken(question.page);
  const view = await sync.pull(user, token === null ? cursor?.sync_version : undefined);
  const course = token === null ? null : resumeSnapshot(view, token);
  if (course !== null) return pageOf(course, 'requested', maxRows);

  const plan = planResync(cursor, digest, view);
  if (plan.mode === 'noop') return { mode: 'noop', ...wireHead(view), rows: [] };
  if (plan.mode === 'delta') {
    const catchUp = beginCatchUp(view.rows, plan.sinceVersion, view);
    if (catchUp !== null) return { mode: 'delta', ...wireHead(view), rows: catchUp.rows.map(toWireRow) };
  }
  const reason = plan.mode === 'snapshot' ? plan.reason : 'floor';
  if (reason === 'digest') await sync.diverged(user);
  // The view above may hold only what is newer than the cursor.
  return pageOf(beginSnapshot(await sync.pull(user)), reason, maxRows);
}

function pageOf(course: SnapshotCourse, reason: SyncReason, maxRows: number): Answer {
  const { rows, next } = nextPage(course, maxRows).frame;
  const page = { mode: 'snapshot' as const, reason, ...wireHead(course.head), rows };
  return next === undefined ? page : { ...page, next };
}

function wireHead({ epoch, syncVersion, total, badge, mentions, digest }: StateHead) {
  return { epoch, sync_version: syncVersion, total, badge, mentions, digest };
}

function questionOf(c: ApiContext): Question {
  const epoch = queryId(c, 'epoch');
  const syncVersion = queryCount(c, 'sync_version');
  if ((epoch === undefined) !== (syncVersion === undefined)) {
    const missing = epoch === undefined ? 'epoch' : 'sync_version';
    throw new UserFault('invalid_field', `${missing} is missing: a cursor is both`, missing);
  }
  return {
    cursor: epoch === undefined || syncVersion === undefined ? null : { epoch, sync_version: syncVersion },
    digest: queryText(c, 'digest', digestText),
    page: queryText(c, 'page', pageText),
    maxRows: queryCount(c, 'max_rows', maxRowsRange) ?? limits.pageRowsDefault,
  };
}

/** RFC 9110 §13.1.2: a list of tags, compared weakly, or `*`. */
function isKnown(c: ApiContext, tag: string): boolean {
  const given = c.env.incoming.headers['if-none-match'] ?? '';
  const known = given.split(',').map((one) => one.trim().replace(/^W\//, ''));
  return known.includes('*') || known.includes(tag.replace(/^W\//, ''));
}
