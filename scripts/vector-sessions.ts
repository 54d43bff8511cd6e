// Sessions for protocol/vectors/sessions/: frames as a server sends them, and what a device shows and asks after each.
// The expectations are written by hand; only sums and digests are computed.
import { digestOf, formatDigest, sumsOf } from '../protocol/index.ts';
import type {
  AckedItem,
  Delta,
  HelloFields,
  Row,
  ServerFrame,
  Sync,
  SyncCause,
  SyncMode,
  SyncReason,
} from '../protocol/index.ts';

export type Shown = {
  sync_version: number;
  /** Conversation → unread, hidden ones included. */
  rows: Record<string, number>;
  total: number;
  /** Why the device asks for a sync now; absent: it does not. */
  asks?: SyncCause;
  /** What is still to come before the device compares again. */
  due?: 'catchup' | 'snapshot';
};
export type SessionStep =
  | { frame: ServerFrame; expect: Shown }
  | { reconnect: HelloFields; expect: Shown }
  | { sync: Sync; expect: Shown };
export type Session = {
  name: string;
  why: string;
  rules: string[];
  start: { epoch: string; sync_version: number; rows: Row[] } | null;
  steps: SessionStep[];
};

const E = 'k3Vq9xTz';

function row(conv: string, version: number, unread: number, more: Partial<Row> = {}): Row {
  return { conv, version, unread, mentions: 0, read_seq: 5, read_epoch: 0, head_seq: 5 + unread, ...more };
}

function gone(conv: string, version: number): Row {
  return { conv, version, unread: 0, mentions: 0, read_seq: 0, read_epoch: 0, head_seq: 0, gone: true };
}

/** Sums over all rows of a version. */
function sums(rows: Row[]): Pick<Delta, 'total' | 'badge' | 'mentions' | 'digest'> {
  const { total, badge, mentions } = sumsOf(rows);
  return { total, badge, mentions, digest: digestText(rows) };
}

function digestText(rows: Row[]): string {
  return formatDigest(digestOf(rows));
}

function welcome(mode: SyncMode, version: number, all: Row[], reason?: SyncReason, epoch = E): ServerFrame {
  const answer = { epoch, sync_version: version, mode, ...(reason === undefined ? {} : { reason }), ...sums(all) };
  return { t: 'welcome', conn: 'n1-1', user: 'u1', ...answer, heartbeat_ms: 25_000, expires_at: 1_790_000_000_000 };
}

function synced(mode: SyncMode, version: number, all: Row[], reason?: SyncReason, epoch = E): ServerFrame {
  const answer = { epoch, sync_version: version, mode, ...(reason === undefined ? {} : { reason }), ...sums(all) };
  return { t: 'synced', ...answer, expires_at: 1_790_000_000_000 };
}

function page(n: number, version: number, rows: Row[], all: Row[], next?: string, epoch = E): ServerFrame {
  const place = { epoch, sync_version: version, page: n, rows };
  return next === undefined
    ? { t: 'snapshot', ...place, end: true, ...sums(all) }
    : { t: 'snapshot', ...place, next, end: false, ...sums(all) };
}

function delta(base: number, version: number, rows: Row[], all: Row[], op: Delta['op'] = 'message'): ServerFrame {
  return { t: 'delta', epoch: E, base_version: base, sync_version: version, rows, op, ...sums(all) };
}

function hb(version: number, all: Row[], epoch = E): ServerFrame {
  const { total, digest } = sums(all);
  return { t: 'hb', epoch, sync_version: version, total, digest };
}

function acked(id: number, items: AckedItem[], version: number, all: Row[]): ServerFrame {
  const { total, digest } = sums(all);
  return { t: 'acked', id, items, sync_version: version, total, digest };
}

const a1 = row('a', 1, 1);
const b2 = row('b', 2, 2);
const c3 = row('c', 3, 3);
const atThree = { epoch: E, sync_version: 3, rows: [a1, b2, c3] };
const shownAtThree: Shown = { sync_version: 3, rows: { a: 1, b: 2, c: 3 }, total: 6 };
const nothing: Shown = { sync_version: 0, rows: {}, total: 0 };
const cursorThree = { epoch: E, sync_version: 3 };
const a4 = row('a', 4, 4);
const b5 = row('b', 5, 5);
const helloAtThree: SessionStep = {
  reconnect: { cursor: cursorThree, digest: digestText(atThree.rows) },
  expect: shownAtThree,
};
const greeted: SessionStep[] = [helloAtThree, { frame: welcome('noop', 3, atThree.rows), expect: shownAtThree }];

export const sessions: Session[] = [
  {
    name: 'first-snapshot',
    why: 'the first snapshot comes in pages; nothing is shown as complete before the last',
    rules: ['SY2', 'SY6'],
    start: null,
    steps: [
      { reconnect: { cursor: null }, expect: nothing },
      { frame: welcome('snapshot', 3, atThree.rows, 'first'), expect: { ...nothing, due: 'snapshot' } },
      { frame: page(1, 3, [c3, b2], atThree.rows, 'p2'), expect: { ...nothing, due: 'snapshot' } },
      { frame: page(2, 3, [a1], atThree.rows), expect: shownAtThree },
    ],
  },
  {
    name: 'duplicate-delta',
    why: 'a delta that comes twice does not fit the second time; the answer is noop and nothing was counted twice',
    rules: ['SY3', 'SY4', 'CN9'],
    start: atThree,
    steps: [
      ...greeted,
      { frame: delta(3, 4, [a4], [a4, b2, c3]), expect: { sync_version: 4, rows: { a: 4, b: 2, c: 3 }, total: 9 } },
      {
        frame: delta(3, 4, [a4], [a4, b2, c3]),
        expect: { sync_version: 4, rows: { a: 4, b: 2, c: 3 }, total: 9, asks: 'gap' },
      },
      {
        sync: { t: 'sync', cursor: { epoch: E, sync_version: 4 }, digest: digestText([a4, b2, c3]) },
        expect: { sync_version: 4, rows: { a: 4, b: 2, c: 3 }, total: 9 },
      },
      { frame: synced('noop', 4, [a4, b2, c3]), expect: { sync_version: 4, rows: { a: 4, b: 2, c: 3 }, total: 9 } },
    ],
  },
  {
    name: 'lost-delta',
    why: 'a delta is lost: the next one does not fit, what is on its way is left alone until the answer has come',
    rules: ['SY4', 'SY7'],
    start: atThree,
    steps: [
      ...greeted,
      { frame: delta(4, 5, [b5], [a4, b5, c3]), expect: { ...shownAtThree, asks: 'gap' } },
      { sync: { t: 'sync', cursor: cursorThree, digest: digestText(atThree.rows) }, expect: shownAtThree },
      { frame: delta(5, 6, [gone('c', 6)], [a4, b5], 'leave'), expect: shownAtThree },
      { frame: synced('delta', 6, [a4, b5]), expect: { ...shownAtThree, due: 'catchup' } },
      {
        frame: delta(3, 6, [a4, b5, gone('c', 6)], [a4, b5], 'merged'),
        expect: { sync_version: 6, rows: { a: 4, b: 5 }, total: 9 },
      },
    ],
  },
  {
    name: 'catch-up-in-frames',
    why: 'a catch-up in two frames carries the sums of its end; until then the old numbers are shown',
    rules: ['SY7'],
    start: atThree,
    steps: [
      helloAtThree,
      { frame: welcome('delta', 5, [a4, b5, c3]), expect: { ...shownAtThree, due: 'catchup' } },
      { frame: delta(3, 4, [a4], [a4, b5, c3], 'merged'), expect: { ...shownAtThree, due: 'catchup' } },
      {
        frame: delta(4, 5, [b5], [a4, b5, c3], 'merged'),
        expect: { sync_version: 5, rows: { a: 4, b: 5, c: 3 }, total: 12 },
      },
    ],
  },
  {
    name: 'catch-up-over-a-reconnect',
    why: 'the line breaks in a catch-up: the cursor names what was reached, what is shown stays whole',
    rules: ['CD6', 'SY7'],
    start: atThree,
    steps: [
      helloAtThree,
      { frame: welcome('delta', 5, [a4, b5, c3]), expect: { ...shownAtThree, due: 'catchup' } },
      { frame: delta(3, 4, [a4], [a4, b5, c3], 'merged'), expect: { ...shownAtThree, due: 'catchup' } },
      { reconnect: { cursor: { epoch: E, sync_version: 4 } }, expect: { ...shownAtThree, due: 'catchup' } },
      { frame: welcome('delta', 5, [a4, b5, c3]), expect: { ...shownAtThree, due: 'catchup' } },
      {
        frame: delta(4, 5, [b5], [a4, b5, c3], 'merged'),
        expect: { sync_version: 5, rows: { a: 4, b: 5, c: 3 }, total: 12 },
      },
    ],
  },
  {
    name: 'catch-up-repeats-a-push',
    why: 'a push was on its way when the device asked: the catch-up begins below its version and brings the row again',
    rules: ['CD4', 'SY3'],
    start: atThree,
    steps: [
      ...greeted,
      { sync: { t: 'sync', cursor: cursorThree, digest: digestText(atThree.rows) }, expect: shownAtThree },
      {
        frame: delta(3, 4, [gone('c', 4)], [a1, b2], 'leave'),
        expect: { sync_version: 4, rows: { a: 1, b: 2 }, total: 3 },
      },
      {
        frame: synced('delta', 5, [a1, b5]),
        expect: { sync_version: 4, rows: { a: 1, b: 2 }, total: 3, due: 'catchup' },
      },
      {
        frame: delta(3, 5, [gone('c', 4), b5], [a1, b5], 'merged'),
        expect: { sync_version: 5, rows: { a: 1, b: 5 }, total: 6 },
      },
    ],
  },
  {
    name: 'delta-between-pages',
    why: 'a conversation is left between two pages: the page that still lists it is older than its tombstone',
    rules: ['SY6', 'SY3', 'SY7'],
    start: null,
    steps: [
      { reconnect: { cursor: null }, expect: nothing },
      { frame: welcome('snapshot', 3, atThree.rows, 'first'), expect: { ...nothing, due: 'snapshot' } },
      { frame: page(1, 3, [c3, b2], atThree.rows, 'p2'), expect: { ...nothing, due: 'snapshot' } },
      { frame: delta(3, 4, [gone('a', 4)], [b2, c3], 'leave'), expect: { ...nothing, due: 'snapshot' } },
      { frame: page(2, 3, [a1], atThree.rows), expect: { sync_version: 4, rows: { b: 2, c: 3 }, total: 5 } },
    ],
  },
  {
    name: 'resumed-snapshot',
    why: 'the line breaks after page 1: the snapshot goes on at its version, what changed since comes first',
    rules: ['SY6', 'CD6'],
    start: null,
    steps: [
      { reconnect: { cursor: null }, expect: nothing },
      { frame: welcome('snapshot', 3, atThree.rows, 'first'), expect: { ...nothing, due: 'snapshot' } },
      { frame: page(1, 3, [c3], atThree.rows, 'p2'), expect: { ...nothing, due: 'snapshot' } },
      { reconnect: { cursor: null, page: 'p2' }, expect: { ...nothing, due: 'snapshot' } },
      { frame: welcome('snapshot', 3, atThree.rows, 'first'), expect: { ...nothing, due: 'snapshot' } },
      {
        frame: delta(3, 5, [gone('c', 4), b5], [a1, b5], 'merged'),
        expect: { ...nothing, due: 'snapshot' },
      },
      { frame: page(2, 3, [a1], atThree.rows), expect: { sync_version: 5, rows: { a: 1, b: 5 }, total: 6 } },
    ],
  },
  {
    name: 'snapshot-anew',
    why: 'the page token is not known any more: page 1 says that the snapshot starts anew',
    rules: ['SY6', 'DT5'],
    start: null,
    steps: [
      { reconnect: { cursor: null }, expect: nothing },
      { frame: welcome('snapshot', 3, atThree.rows, 'first'), expect: { ...nothing, due: 'snapshot' } },
      { frame: page(1, 3, [c3], atThree.rows, 'p2'), expect: { ...nothing, due: 'snapshot' } },
      { reconnect: { cursor: null, page: 'p2' }, expect: { ...nothing, due: 'snapshot' } },
      { frame: welcome('snapshot', 5, [a4, b5], 'first'), expect: { ...nothing, due: 'snapshot' } },
      { frame: page(1, 5, [b5, a4], [a4, b5]), expect: { sync_version: 5, rows: { a: 4, b: 5 }, total: 9 } },
    ],
  },
  {
    name: 'new-epoch-unasked',
    why: 'the state was lost: an open socket gets a snapshot of the new epoch; the old screen stays until its last page',
    rules: ['SY10', 'SY7'],
    start: atThree,
    steps: [
      ...greeted,
      {
        frame: synced('snapshot', 1, [row('a', 1, 1), row('b', 1, 2)], 'epoch', 'p0Lw8sRa'),
        expect: { ...shownAtThree, due: 'snapshot' },
      },
      {
        frame: page(1, 1, [row('b', 1, 2)], [row('a', 1, 1), row('b', 1, 2)], 'p2', 'p0Lw8sRa'),
        expect: { ...shownAtThree, due: 'snapshot' },
      },
      {
        frame: page(2, 1, [row('a', 1, 1)], [row('a', 1, 1), row('b', 1, 2)], undefined, 'p0Lw8sRa'),
        expect: { sync_version: 1, rows: { a: 1, b: 2 }, total: 3 },
      },
    ],
  },
  {
    name: 'wrong-row',
    why: 'a stored row is damaged: the heartbeat finds it, the digest sent along brings a snapshot',
    rules: ['SY7', 'SY8'],
    start: { ...atThree, rows: [a1, row('b', 2, 7), c3] },
    steps: [
      {
        reconnect: { cursor: cursorThree, digest: digestText([a1, row('b', 2, 7), c3]) },
        expect: { sync_version: 3, rows: { a: 1, b: 7, c: 3 }, total: 11 },
      },
      {
        frame: welcome('noop', 3, atThree.rows),
        expect: { sync_version: 3, rows: { a: 1, b: 7, c: 3 }, total: 6, asks: 'mismatch' },
      },
      { frame: hb(3, atThree.rows), expect: { sync_version: 3, rows: { a: 1, b: 7, c: 3 }, total: 6 } },
      {
        sync: { t: 'sync', cursor: cursorThree, digest: digestText([a1, row('b', 2, 7), c3]) },
        expect: { sync_version: 3, rows: { a: 1, b: 7, c: 3 }, total: 6 },
      },
      {
        frame: synced('snapshot', 3, atThree.rows, 'digest'),
        expect: { sync_version: 3, rows: { a: 1, b: 7, c: 3 }, total: 6, due: 'snapshot' },
      },
      { frame: page(1, 3, [c3, b2, a1], atThree.rows), expect: shownAtThree },
    ],
  },
  {
    name: 'ack-recall-clear',
    why: 'an ack, a recall and a clear are rows like any other; acked of a lower version is not compared',
    rules: ['AK4', 'CN6', 'LC3', 'SY7'],
    start: atThree,
    steps: [
      ...greeted,
      {
        frame: delta(
          3,
          4,
          [row('c', 4, 0, { read_seq: 8, head_seq: 8 })],
          [a1, b2, row('c', 4, 0, { read_seq: 8 })],
          'read',
        ),
        expect: { sync_version: 4, rows: { a: 1, b: 2, c: 0 }, total: 3 },
      },
      {
        frame: delta(
          4,
          5,
          [row('b', 5, 1, { head_seq: 7 })],
          [a1, row('b', 5, 1), row('c', 4, 0, { read_seq: 8 })],
          'recall',
        ),
        expect: { sync_version: 5, rows: { a: 1, b: 1, c: 0 }, total: 2 },
      },
      {
        frame: acked(1, [{ conv: 'c', status: 'applied', read_seq: 8, unread: 0 }], 4, [a1, b2]),
        expect: { sync_version: 5, rows: { a: 1, b: 1, c: 0 }, total: 2 },
      },
      {
        frame: delta(5, 6, [gone('a', 6)], [row('b', 5, 1), row('c', 4, 0, { read_seq: 8 })], 'clear'),
        expect: { sync_version: 6, rows: { b: 1, c: 0 }, total: 1 },
      },
    ],
  },
  {
    name: 'heartbeat-ahead',
    why: 'a push was lost inside the server: the heartbeat names a version that the device does not have',
    rules: ['SY7'],
    start: atThree,
    steps: [
      ...greeted,
      { frame: hb(2, [a1, b2]), expect: shownAtThree },
      { frame: hb(4, [a4, b2, c3]), expect: { ...shownAtThree, asks: 'behind' } },
      { sync: { t: 'sync', cursor: cursorThree, digest: digestText(atThree.rows) }, expect: shownAtThree },
      { frame: synced('delta', 4, [a4, b2, c3]), expect: { ...shownAtThree, due: 'catchup' } },
      { frame: delta(3, 4, [a4], [a4, b2, c3]), expect: { sync_version: 4, rows: { a: 4, b: 2, c: 3 }, total: 9 } },
    ],
  },
  {
    name: 'stalled-snapshot',
    why: 'the last page never comes: three heartbeats later the device asks again',
    rules: ['CD7'],
    start: atThree,
    steps: [
      helloAtThree,
      { frame: welcome('snapshot', 5, [a4, b5], 'floor'), expect: { ...shownAtThree, due: 'snapshot' } },
      { frame: page(1, 5, [b5], [a4, b5], 'p2'), expect: { ...shownAtThree, due: 'snapshot' } },
      { frame: hb(5, [a4, b5]), expect: { ...shownAtThree, due: 'snapshot' } },
      { frame: hb(5, [a4, b5]), expect: { ...shownAtThree, due: 'snapshot' } },
      { frame: hb(5, [a4, b5]), expect: { ...shownAtThree, due: 'snapshot', asks: 'stalled' } },
    ],
  },
];
