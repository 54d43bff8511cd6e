import { describe, expect, test } from 'vitest';
import type { Ack, ClientFrame } from '../../../protocol/client-frames.ts';
import { limits } from '../../../protocol/limits.ts';
import type { AckedItem, Row } from '../../../protocol/server-frames.ts';
import { createCommandQueue } from '../../../client/command-queue.ts';
import type { AckCommand, Command } from '../../../client/command.ts';

const ack = (conv: string, seq: number, readEpoch = 0): AckCommand => ({ t: 'ack', conv, seq, read_epoch: readEpoch });
const mark = (conv: string, readEpoch = 0): Command => ({ t: 'mark', conv, read_epoch: readEpoch });
const hide = (conv: string, heldHead: number): Command => ({ t: 'prefs', conv, hidden: true, heldHead });
const mute = (conv: string, muted: boolean): Command => ({ t: 'prefs', conv, muted, heldHead: 0 });
const readAll = (heads: AckCommand[], version = 7): Command => ({
  t: 'read_all',
  epoch: 'e',
  sync_version: version,
  heads,
});
const acked = (id: number, items: AckedItem[] = [], version = 1) =>
  ({ t: 'acked', id, items, sync_version: version, total: 0, digest: '000000000000' }) as const;
const noRows: ReadonlyMap<string, Row> = new Map();

function queueOf(...commands: Command[]) {
  const queue = createCommandQueue();
  for (const command of commands) queue.add(command);
  return queue;
}

function idOf(frame: ClientFrame | null): number {
  if (frame === null || !('id' in frame)) throw new Error('a frame with an id was expected');
  return frame.id;
}

/** All frames, each answered at once. */
function drained(queue: ReturnType<typeof createCommandQueue>): ClientFrame[] {
  const frames: ClientFrame[] = [];
  for (let frame = queue.next(true); frame !== null; frame = queue.next(true)) {
    frames.push(frame);
    queue.answered(acked(idOf(frame)), noRows);
  }
  return frames;
}

describe('acks', () => {
  test('[AK4] are merged to the maximum per conversation and read_epoch', () => {
    const queue = queueOf(ack('c1', 3), ack('c2', 1), ack('c1', 9), ack('c1', 5), ack('c1', 2, 1));
    const items = [
      { conv: 'c1', seq: 9, read_epoch: 0 },
      { conv: 'c2', seq: 1, read_epoch: 0 },
      { conv: 'c1', seq: 2, read_epoch: 1 },
    ];
    expect(queue.next(true)).toEqual({ t: 'ack', id: 1, items });
    expect(queue.next(true)).toBeNull();
  });

  test('gather while a frame is unanswered, and one that grew is sent again', () => {
    const queue = queueOf(ack('c1', 1));
    expect(queue.next(true)).toMatchObject({ id: 1 });
    queue.add(ack('c1', 2));
    queue.add(ack('c2', 5));
    queue.add(ack('c1', 3));
    expect(queue.next(true)).toBeNull();
    expect(queue.waiting()).toBe(true);
    expect(queue.answered(acked(1), noRows)).toEqual([]);
    expect(queue.next(true)).toMatchObject({ id: 2, items: [{ seq: 3 }, { seq: 5 }] });
    expect(queue.answered(acked(2, [{ conv: 'c1', status: 'applied' }]), noRows)).toEqual([
      { command: ack('c1', 3), status: 'applied' },
      { command: ack('c2', 5), status: undefined },
    ]);
    expect(queue.waiting()).toBe(false);
  });

  test('go in frames of at most 200 items and less than 64 KiB', () => {
    const short = drained(queueOf(...Array.from({ length: 450 }, (_, i) => ack(`c${i}`, i + 1)))) as Ack[];
    expect(short.map(({ items }) => items.length)).toEqual([200, 200, 50]);

    // Ids of 128 bytes that JSON makes six times as long.
    const id = (i: number) => `\u0001`.repeat(124) + String(i).padStart(4, '0');
    const long = drained(queueOf(...Array.from({ length: 300 }, (_, i) => ack(id(i), 2 ** 53 - 1)))) as Ack[];
    for (const frame of long) {
      expect(new TextEncoder().encode(JSON.stringify(frame)).length).toBeLessThan(limits.frameBytesMax);
    }
    expect(long.flatMap(({ items }) => items)).toHaveLength(300);
  });

  test('an unanswered one is sent again after a lost socket, and after three heartbeats', () => {
    const queue = queueOf(ack('c1', 1));
    queue.next(true);
    queue.unsend();
    expect(queue.next(true)).toMatchObject({ id: 2, items: [{ seq: 1 }] });
    queue.beat();
    queue.beat();
    expect(queue.next(true)).toBeNull();
    queue.beat();
    expect(queue.next(true)).toMatchObject({ id: 3, items: [{ seq: 1 }] });
    expect(queue.answered(acked(1), noRows)).toEqual([]);
    expect(queue.commands()).toEqual([ack('c1', 1)]);
  });
});

describe('order', () => {
  test('[AK4] commands go one at a time, after the acks that were given before', () => {
    const frames = drained(queueOf(ack('c1', 1), mark('c2'), ack('c2', 4, 1), ack('c3', 2), mute('c1', true)));
    expect(frames.map((frame) => (frame.t === 'ack' ? frame.items.map(({ conv }) => conv) : frame.t))).toEqual([
      ['c1'],
      'mark',
      ['c2', 'c3'],
      'prefs',
    ]);
  });

  test('what is overdue holds nothing up', () => {
    const queue = queueOf(mark('c1'), ack('c2', 1));
    queue.next(true);
    expect(queue.next(true)).toBeNull();
    expect(queue.next(false)).toMatchObject({ t: 'ack' });
  });

  test('each mark is sent, since each names the read_epoch that the one before it made', () => {
    expect(drained(queueOf(mark('c1', 0), mark('c1', 1))).map(({ t }) => t)).toEqual(['mark', 'mark']);
  });

  test('of two switches of one kind that wait the later one counts', () => {
    const frames = drained(queueOf(mute('c1', true), hide('c1', 3), mute('c2', true), mute('c2', false)));
    expect(frames).toMatchObject([
      { t: 'prefs', conv: 'c1', muted: true },
      { t: 'prefs', conv: 'c1', hidden: true },
      { t: 'prefs', conv: 'c2', muted: false },
    ]);
    for (const frame of frames) expect(JSON.stringify(frame)).not.toContain('heldHead');
  });

  test('is bounded', () => {
    const queue = createCommandQueue();
    for (let i = 0; i < 10_000; i++) queue.add(ack(`c${i}`, 1));
    queue.add(ack('c1', 2));
    expect(() => queue.add(ack('one more', 1))).toThrow('queue full');
  });
});

describe('read all', () => {
  test('[AK8] a row that the server names stale is acked at the head that was held, before what was asked for later', () => {
    const queue = queueOf(readAll([ack('c1', 5), ack('c2', 8)]), mark('c1', 0));
    const frame = queue.next(true);
    expect(frame).toEqual({ t: 'read_all', id: 1, epoch: 'e', sync_version: 7 });
    queue.answered(acked(1, [{ conv: 'c1', status: 'stale' }]), noRows);
    expect(drained(queue)).toMatchObject([{ t: 'ack', items: [{ conv: 'c1', seq: 5 }] }, { t: 'mark' }]);
  });

  test('[AK8] under a foreign epoch every row is acked at the head that was held', () => {
    const queue = queueOf(readAll([ack('c1', 5), ack('c2', 8)]));
    expect(queue.refused(idOf(queue.next(true)), 'stale_cursor')).toEqual([]);
    expect(new Set(queue.commands())).toEqual(new Set([ack('c1', 5), ack('c2', 8)]));
  });

  test('pressed twice it is one, and knows what the first one read', () => {
    const queue = queueOf(readAll([ack('c1', 5), ack('c2', 8)], 7), readAll([ack('c2', 9)], 9));
    expect(queue.commands()).toEqual([readAll([ack('c1', 5), ack('c2', 9)], 9)]);
  });
});

describe('the end of a command', () => {
  test('a confirmed one stays on show until its effect has been seen', () => {
    const queue = queueOf(ack('c1', 4));
    queue.answered(acked(idOf(queue.next(true)), [], 12), noRows);
    queue.settle(11, noRows);
    expect([...queue.byConv().keys()]).toEqual(['c1']);
    queue.unsend();
    expect(queue.next(true)).toBeNull();
    queue.settle(12, noRows);
    expect([...queue.byConv().keys()]).toEqual([]);
    expect(queue.commands()).toEqual([]);
  });

  test('one that cannot be carried out now is sent again, one that never can be is given up', () => {
    const queue = queueOf(ack('c1', 4), ack('c2', 4));
    queue.unsend(idOf(queue.next(true)));
    expect(queue.refused(idOf(queue.next(true)), 'invalid_field')).toEqual([ack('c1', 4), ack('c2', 4)]);
    expect(queue.waiting()).toBe(false);
    expect(queue.byConv().size).toBe(0);
  });

  test('[LC4] hiding is over when a newer message is known: sent again it would hide that one', () => {
    const row: Row = { conv: 'c1', version: 1, unread: 1, mentions: 0, read_seq: 0, read_epoch: 0, head_seq: 4 };
    const queue = queueOf(hide('c1', 3), mute('c1', true));
    queue.settle(0, new Map([['c1', { ...row, head_seq: 3 }]]));
    expect(queue.commands()).toHaveLength(2);
    queue.settle(0, new Map([['c1', row]]));
    expect(queue.commands()).toEqual([mute('c1', true)]);
  });
});

describe('[AK7][SY9] an ack up to the head held that left the mark', () => {
  const marked: Omit<Row, 'head_seq'> = {
    conv: 'c1',
    version: 1,
    unread: 0,
    mentions: 0,
    read_seq: 4,
    read_epoch: 1,
    marked: true,
  };
  const row = (head: number, more: Partial<Row> = {}): Row => ({ ...marked, head_seq: head, ...more });
  const rows = (one: Row) => new Map([['c1', one]]);
  const stale = (held = row(4), seq = 4) => {
    const queue = queueOf(ack('c1', seq, 1));
    queue.answered(acked(idOf(queue.next(true)), [{ conv: 'c1', status: 'stale' }]), rows(held));
    queue.settle(1, rows(held));
    return queue;
  };

  test('waits for a snapshot, and is given again at the head that it shows', () => {
    const queue = stale();
    expect([queue.unsure(), queue.next(true)]).toEqual([true, null]);
    queue.assure(rows(row(7)));
    expect(queue.unsure()).toBe(false);
    expect(queue.next(true)).toMatchObject({ items: [{ conv: 'c1', seq: 7, read_epoch: 1 }] });
  });

  test.each([
    ['the head has not moved', row(4)],
    ['something is unread', row(7, { unread: 1 })],
    ['it was marked again', row(7, { read_epoch: 2 })],
    ['it is not marked any more', row(7, { marked: false })],
  ])('is done with when %s', (_name, shown) => {
    const queue = stale();
    queue.assure(rows(shown));
    queue.settle(1, rows(shown));
    expect([queue.commands(), queue.unsure()]).toEqual([[], false]);
  });

  test('is sent again when the socket is lost before the snapshot', () => {
    const queue = stale();
    queue.unsend();
    expect(queue.unsure()).toBe(false);
    expect(queue.next(true)).toMatchObject({ items: [{ seq: 4 }] });
  });

  test('below the head it means what it says', () => {
    expect(stale(row(6)).commands()).toEqual([]);
  });
});
