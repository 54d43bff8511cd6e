import type { Cursor, SyncReason } from '../../protocol/index.ts';

/** Where the user's state stands. */
export interface Standing {
  readonly epoch: string;
  readonly syncVersion: number;
  /** Cursors below it need a snapshot: tombstones up to it were dropped. */
  readonly tombstoneFloor: number;
  readonly digest: string;
}

export type ResyncPlan =
  | { readonly mode: 'noop' }
  /** All rows above `sinceVersion`, tombstones included. */
  | { readonly mode: 'delta'; readonly sinceVersion: number }
  | { readonly mode: 'snapshot'; readonly reason: SyncReason };

/**
 * SY2: what somebody who stands at `cursor` is answered.
 *
 *   no cursor             snapshot first       (requested, where the asker is known to have had one)
 *   another epoch         snapshot epoch
 *   above our version     snapshot ahead
 *   below the tombstones  snapshot floor
 *   our version           noop, or snapshot digest where the asker's digest is another (SY7)
 *   below our version     delta
 */
export function planResync(
  cursor: Cursor | null,
  digest: string | undefined,
  at: Standing,
  withoutCursor: 'first' | 'requested' = 'first',
): ResyncPlan {
  if (cursor === null) return { mode: 'snapshot', reason: withoutCursor };
  if (cursor.epoch !== at.epoch) return { mode: 'snapshot', reason: 'epoch' };
  if (cursor.sync_version > at.syncVersion) return { mode: 'snapshot', reason: 'ahead' };
  if (cursor.sync_version < at.tombstoneFloor) return { mode: 'snapshot', reason: 'floor' };
  if (cursor.sync_version < at.syncVersion) return { mode: 'delta', sinceVersion: cursor.sync_version };
  // A digest belongs to its version: only at ours can it be compared.
  if (digest !== undefined && digest !== at.digest) return { mode: 'snapshot', reason: 'digest' };
  return { mode: 'noop' };
}
