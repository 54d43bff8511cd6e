/** Wake-ups between nodes: positional JSON, with the id of the sender in front. */
import type { InspectedDevice, Op, Row } from '../../../protocol/index.ts';
import type { Change, LargeNotice, OpenedConnection } from '../../ports.ts';

export type WakeupMessage =
  | { readonly kind: 'changes'; readonly from: number; readonly changes: readonly Change[] }
  | { readonly kind: 'large'; readonly from: number; readonly notices: readonly LargeNotice[] }
  | { readonly kind: 'missing'; readonly from: number; readonly users: readonly string[] }
  | { readonly kind: 'opened'; readonly from: number; readonly connections: readonly OpenedConnection[] }
  | { readonly kind: 'disconnect'; readonly from: number; readonly user: string; readonly device: string | null }
  | { readonly kind: 'rollCall'; readonly from: number; readonly user: string; readonly call: number }
  | {
      readonly kind: 'present';
      readonly from: number;
      readonly call: number;
      readonly devices: readonly InspectedDevice[];
    };

type PackedRow = [
  conv: string,
  version: number,
  unread: number,
  mentions: number,
  readSeq: number,
  readEpoch: number,
  headSeq: number,
  flags: number,
  floorSeq?: number,
];
type PackedChange = [
  user: string,
  epoch: string,
  base: number,
  version: number,
  op: Op,
  total: number,
  badge: number,
  mentions: number,
  digest: string,
  rows: PackedRow[],
];
type PackedConnection = [user: string, device: string, conn: string, attempt: number | null];
type PackedNotice = [conv: string, rev: number, op: Op, newcomers: readonly string[]];

const FLAGS = ['muted', 'marked', 'hidden', 'capped', 'gone'] as const;

export function packWakeup(message: WakeupMessage): string {
  switch (message.kind) {
    case 'changes':
      return JSON.stringify(['c', message.from, message.changes.map(packChange)]);
    case 'large':
      return JSON.stringify([
        'l',
        message.from,
        message.notices.map(({ conv, rev, op, newcomers }) => [conv, rev, op, newcomers]),
      ]);
    case 'missing':
      return JSON.stringify(['m', message.from, message.users]);
    case 'opened':
      return JSON.stringify([
        'o',
        message.from,
        message.connections.map(({ user, device, conn, attempt }) => [user, device, conn, attempt]),
      ]);
    case 'disconnect':
      return JSON.stringify(['d', message.from, [message.user, message.device]]);
    case 'rollCall':
      return JSON.stringify(['r', message.from, [message.user, message.call]]);
    case 'present':
      return JSON.stringify(['p', message.from, [message.call, message.devices]]);
  }
}

/** How messages with changes from this node begin: what need not be parsed can be told by it. */
export function changesFrom(node: number): string {
  return `["c",${node},`;
}

/** Null: not of this version. */
export function unpackWakeup(text: string): WakeupMessage | null {
  const [kind, from, body] = JSON.parse(text) as [string, number, unknown];
  if (kind === 'c') return { kind: 'changes', from, changes: (body as PackedChange[]).map(unpackChange) };
  if (kind === 'm') return { kind: 'missing', from, users: body as string[] };
  if (kind === 'l') {
    const notices = (body as PackedNotice[]).map(([conv, rev, op, newcomers]) => ({ conv, rev, op, newcomers }));
    return { kind: 'large', from, notices };
  }
  if (kind === 'o') {
    const connections = (body as PackedConnection[]).map(([user, device, conn, attempt]) => ({
      user,
      device,
      conn,
      attempt,
    }));
    return { kind: 'opened', from, connections };
  }
  if (kind === 'r') {
    const [user, call] = body as [string, number];
    return { kind: 'rollCall', from, user, call };
  }
  if (kind === 'p') {
    const [call, devices] = body as [number, InspectedDevice[]];
    return { kind: 'present', from, call, devices };
  }
  if (kind !== 'd') return null;
  const [user, device] = body as [string, string | null];
  return { kind: 'disconnect', from, user, device };
}

function packChange(change: Change): PackedChange {
  const { user, epoch, baseVersion, syncVersion, op, total, badge, mentions, digest, rows } = change;
  return [user, epoch, baseVersion, syncVersion, op, total, badge, mentions, digest, rows.map(packRow)];
}

function unpackChange(packed: PackedChange): Change {
  const [user, epoch, baseVersion, syncVersion, op, total, badge, mentions, digest, rows] = packed;
  return { user, epoch, baseVersion, syncVersion, op, rows: rows.map(unpackRow), total, badge, mentions, digest };
}

function packRow(row: Row): PackedRow {
  let flags = 0;
  FLAGS.forEach((flag, i) => {
    if (row[flag] === true) flags |= 1 << i;
  });
  const { conv, version, unread, mentions, read_seq, read_epoch, head_seq, floor_seq } = row;
  const packed: PackedRow = [conv, version, unread, mentions, read_seq, read_epoch, head_seq, flags];
  if (floor_seq !== undefined) packed.push(floor_seq);
  return packed;
}

function unpackRow(packed: PackedRow): Row {
  const [conv, version, unread, mentions, read_seq, read_epoch, head_seq, flags, floor_seq] = packed;
  const row: Row = { conv, version, unread, mentions, read_seq, read_epoch, head_seq };
  if (floor_seq !== undefined) row.floor_seq = floor_seq;
  FLAGS.forEach((flag, i) => {
    if ((flags & (1 << i)) !== 0) row[flag] = true;
  });
  return row;
}
