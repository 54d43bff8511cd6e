import type { UnreadAnswer } from '../../protocol/index.ts';
import { type HeldRow, listingOf, reportedUnread, toWireRow } from '../core/row.ts';
import { newestFirst } from '../core/snapshot-pages.ts';
import { UserFault } from '../errors.ts';
import type { StateView } from '../ports.ts';

export interface PageRequest {
  /** As answered in `next`; absent: the first page. */
  readonly cursor: string | undefined;
  readonly limit: number;
  readonly unreadOnly: boolean;
}

type Place = Pick<HeldRow, 'activity' | 'conv'>;

/**
 * One page of `GET …/unread`: listed rows, newest first (DT7). The totals are those of all listed rows, also with `unreadOnly`.
 * A cursor names the place of the last row rather than a number of rows, so that a conversation that moves to the top between two
 * pages neither doubles nor hides another; the caller sees by `sync_version` that something changed.
 */
export function unreadPage(view: StateView, { cursor, limit, unreadOnly }: PageRequest): UnreadAnswer {
  const after = cursor === undefined ? null : placeOf(cursor);
  const wanted = view.rows
    .filter((row) => listingOf(row) === 'listed')
    .filter((row) => !unreadOnly || reportedUnread(row) > 0 || row.marked)
    .filter((row) => after === null || newestFirst(after, row) < 0)
    .toSorted(newestFirst);
  const page = wanted.slice(0, limit);
  const last = page.at(-1);
  const { epoch, syncVersion, total, badge, mentions, digest } = view;
  const answer = { epoch, sync_version: syncVersion, total, badge, mentions, digest, rows: page.map(toWireRow) };
  return last !== undefined && wanted.length > limit ? { ...answer, next: cursorOf(last) } : answer;
}

function cursorOf({ activity, conv }: Place): string {
  return Buffer.from(`${activity}:${conv}`).toString('base64url');
}

function placeOf(cursor: string): Place {
  const [, activity, conv] = /^(\d{1,16}):(.+)$/s.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (activity === undefined || conv === undefined) {
    throw new UserFault('invalid_field', 'cursor must be one that was answered as next', 'cursor');
  }
  return { activity: Number(activity), conv };
}
