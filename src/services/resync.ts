import type { Cursor, SyncMode, SyncReason } from '../../protocol/index.ts';
import { beginCatchUp, nextDelta, VERSION_ROWS_MAX } from '../core/catch-up.ts';
import type { CatchUpCourse } from '../core/catch-up.ts';
import { planResync } from '../core/resync-plan.ts';
import { beginSnapshot, readPageToken, resumeSnapshot } from '../core/snapshot-pages.ts';
import type { SnapshotCourse } from '../core/snapshot-pages.ts';
import type { StateHead, StateView } from '../ports.ts';
import type { Sync } from './sync.ts';

/**
 * Flow 5, second half: a cursor is answered with nothing, with what changed, or with everything (SY2), for sockets and pulls alike.
 *
 * `repair`: nobody asked; the socket missed changes, or has more waiting than is kept for it.
 */
export interface Question {
  readonly kind: 'hello' | 'sync' | 'repair';
  readonly cursor: Cursor | null;
  readonly digest?: string | undefined;
  readonly page?: string | undefined;
}

export interface Answer {
  readonly mode: SyncMode;
  readonly reason: SyncReason | undefined;
  /** What the answer announces. In a resumed snapshot that is the version of its token; the catch-up then leads to the present one. */
  readonly head: StateHead;
  readonly catchUp: CatchUpCourse | null;
  readonly pages: SnapshotCourse | null;
  readonly view: StateView;
}

/** What `welcome` and `synced` have in common. */
export function answerFields({ mode, reason, head }: Pick<Answer, 'mode' | 'reason' | 'head'>, expiresAtMs: number) {
  const { epoch, syncVersion, total, badge, mentions, digest } = head;
  const place = { epoch, sync_version: syncVersion, mode, ...(reason === undefined ? {} : { reason }) };
  return { ...place, total, badge, mentions, digest, expires_at: expiresAtMs };
}

/** `view` is the state's, or what stands in for it. */
export type Reader = Pick<Sync, 'view' | 'diverged'>;

/** Reads the state and finds what an asker is to be sent (SY2, SY6). A warm noop or delta is one read, of the rows that changed. */
export async function resync(sync: Reader, user: string, question: Question): Promise<Answer> {
  const { kind, cursor, digest } = question;
  const token = question.page === undefined ? null : readPageToken(question.page);
  const wantsAll = cursor === null || token !== null;
  const view = await sync.view(user, wantsAll ? undefined : cursor.sync_version);
  const plan = planResync(cursor, digest, view, kind === 'hello' ? 'first' : 'requested');
  const course = token === null ? null : resumeSnapshot(view, token);
  // [SY6] The pages stay at their version; what changed since comes first.
  const catchUpFirst = course === null ? null : beginCatchUp(view.rows, course.head.syncVersion, view);
  const canGoOn = catchUpFirst !== null || course?.head.syncVersion === view.syncVersion;
  // Where one version since is too large for a delta, its rows would be neither there nor in the pages: the snapshot starts anew.
  const reason = plan.mode === 'snapshot' ? plan.reason : 'requested';
  if (course !== null && canGoOn) {
    return { mode: 'snapshot', reason, head: course.head, catchUp: catchUpFirst, pages: course, view };
  }
  // [DT5] Who has pages of a snapshot that nobody can go on with is sent another, wherever the cursor stands.
  if (plan.mode === 'snapshot' || question.page !== undefined) {
    return snapshot(sync, user, reason, wantsAll ? view : null);
  }
  if (plan.mode === 'noop') return { mode: 'noop', reason: undefined, head: view, catchUp: null, pages: null, view };
  const catchUp =
    kind === 'repair' ? inOneFrame(plan.sinceVersion, view) : beginCatchUp(view.rows, plan.sinceVersion, view);
  if (catchUp === null) return snapshot(sync, user, 'floor', null);
  return { mode: 'delta', reason: undefined, head: view, catchUp, pages: null, view };
}

/** `whole`: a view of all rows, if there is one already. */
async function snapshot(sync: Reader, user: string, reason: SyncReason, whole: StateView | null): Promise<Answer> {
  if (reason === 'digest') await sync.diverged(user);
  const view = whole === null || reason === 'digest' ? await sync.view(user) : whole;
  const course = beginSnapshot(view);
  return { mode: 'snapshot', reason, head: course.head, catchUp: null, pages: course, view };
}

/** A repair is not announced, so nobody could tell where several frames end: what takes more than one is sent as a snapshot. */
function inOneFrame(sinceVersion: number, view: StateView): CatchUpCourse | null {
  const catchUp = beginCatchUp(view.rows, sinceVersion, view, VERSION_ROWS_MAX);
  return catchUp !== null && nextDelta(catchUp).rest === null ? catchUp : null;
}
