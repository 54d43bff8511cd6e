// Frames of a server at version 3 with two rows, and a device that stands there.
import { digestOf, formatDigest, reduce, restoredState, sumsOf } from '../../../protocol/index.ts';
import type { ClientState, Delta, Row, ServerFrame, Snapshot, Step, SyncCause } from '../../../protocol/index.ts';

export const EPOCH = 'k3Vq9xTz';
export const row = (conv: string, version: number, unread: number, more: Partial<Row> = {}): Row => ({
  conv,
  version,
  unread,
  mentions: 0,
  read_seq: 0,
  read_epoch: 0,
  head_seq: unread,
  ...more,
});
export const sums = (rows: Row[]) => {
  const { total, badge, mentions } = sumsOf(rows);
  return { total, badge, mentions, digest: formatDigest(digestOf(rows)) };
};
export const delta = (base: number, version: number, rows: Row[], all: Row[]): Delta => ({
  t: 'delta',
  epoch: EPOCH,
  base_version: base,
  sync_version: version,
  rows,
  op: 'message',
  ...sums(all),
});
export const answer = (
  mode: 'noop' | 'delta' | 'snapshot',
  version: number,
  all: Row[],
  epoch = EPOCH,
): ServerFrame => ({
  t: 'synced',
  epoch,
  sync_version: version,
  mode,
  ...sums(all),
  expires_at: 1,
});
export const page = (n: number, version: number, rows: Row[], all: Row[], next?: string): Snapshot => {
  const frame: Snapshot = {
    t: 'snapshot',
    epoch: EPOCH,
    sync_version: version,
    page: n,
    rows,
    end: true,
    ...sums(all),
  };
  return next === undefined ? frame : { ...frame, next, end: false };
};
export const beat = (version: number, all: Row[], epoch = EPOCH): ServerFrame => {
  const { total, digest } = sums(all);
  return { t: 'hb', epoch, sync_version: version, total, digest };
};

export const held = [row('a', 2, 2), row('b', 3, 3)];
/** Greeted, live, at version 3. */
export const live = (rows = held): ClientState =>
  reduce(restoredState({ epoch: EPOCH, syncVersion: 3, rows }), answer('noop', 3, rows)).state;
export const play = (state: ClientState, ...frames: ServerFrame[]): Step =>
  frames.reduce<Step>((step, frame) => reduce(step.state, frame), { state, actions: [] });
export const causes = ({ actions }: Step): SyncCause[] => actions.map(({ cause }) => cause);
export const unread = ({ rows }: ClientState): Record<string, number> =>
  Object.fromEntries([...rows.values()].map((each) => [each.conv, each.unread]));
