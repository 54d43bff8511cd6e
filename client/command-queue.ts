// Commands whose effect has not come back from the server yet, in the order in which the user gave them.
//
// Acks are merged to the maximum per conversation and read_epoch (AK4), wherever they stand in the queue: a mark raises the
// epoch (AK7), so an ack that was given after it has another key and cannot slip before it. Nothing leaves the queue but by
// an answer, and what is confirmed stays until its effect has been seen; a lost socket makes the rest unsent again.
import type { ClientFrame } from '../protocol/client-frames.ts';
import type { Acked, AckStatus, Row } from '../protocol/server-frames.ts';
import { ackItemOf, frameOf } from './command.ts';
import type { AckCommand, Command, SingleCommand } from './command.ts';
import { ACK_ITEMS_MAX, FRAME_BYTES_MAX } from './limits.ts';
import { TidemarkError } from './tidemark-error.ts';

/** `status`: what became of a command that names one conversation. */
export interface Answered {
  command: Command;
  status: AckStatus | undefined;
}

interface Entry {
  command: Command;
  /** Id of the frame that carried it on this connection; null: not sent, or changed since. */
  sentAs: number | null;
  /**
   * Confirmed; its effect is in this sync_version, which this device may not have reached yet. `UNSURE`: a snapshot has to
   * tell whether it is.
   */
  doneAt: number | null;
}

/** A version that is never reached. */
const UNSURE = Infinity;
/** Far above what a person does without a network. */
const ENTRIES_MAX = 10_000;
/** An answer may take long while a store is away (DT8); after so many heartbeats it is taken for lost. */
const BEATS_MAX = 3;
/** Of one character of a string: more ids than needed may go into the next frame, but none is ever too large. */
const UTF8_BYTES_MAX = 3;
/** Room for the rest of the frame. */
const ITEM_BYTES_MAX = FRAME_BYTES_MAX - 256;

export type CommandQueue = ReturnType<typeof createCommandQueue>;

export function createCommandQueue() {
  let entries: Entry[] = [];
  let lastId = 0;
  /** The last frame, while it is unanswered. */
  let openId: number | null = null;
  /** Heartbeats since the last answer. */
  let beats = 0;
  let byConv: ReadonlyMap<string, SingleCommand[]> | null = null;

  const sentIn = (id: number) => entries.filter(({ sentAs }) => sentAs === id);

  function add(command: Command, at = entries.length): void {
    const twin = twinOf(entries, command);
    if (twin === undefined) {
      if (entries.length >= ENTRIES_MAX) throw new TidemarkError('queue_full', 'queue full');
      entries.splice(at, 0, { command, sentAs: null, doneAt: null });
    } else {
      const merged = mergedCommand(twin.command, command);
      if (merged === null) return;
      Object.assign(twin, { command: merged, sentAs: null, doneAt: null });
    }
    byConv = null;
  }

  function keep(kept: (entry: Entry) => boolean): void {
    const before = entries.length;
    entries = entries.filter(kept);
    if (entries.length < before) byConv = null;
  }

  /** What is sent and not confirmed, all of it or that of one frame, is to be sent again. */
  function unsend(id?: number): void {
    beats = 0;
    if (id === undefined || id === openId) openId = null;
    for (const entry of entries) {
      if ((entry.doneAt ?? UNSURE) === UNSURE && (id === undefined || id === entry.sentAs)) {
        entry.sentAs = entry.doneAt = null;
      }
    }
  }

  /** [AK8] "Read all" leaves rows that have changed: they are acked at the head that was held, before all that came after. */
  function ackHeads(entry: Entry, wanted: (conv: string) => boolean): void {
    if (entry.command.t !== 'read_all') return;
    const at = entries.indexOf(entry);
    for (const head of entry.command.heads) if (wanted(head.conv)) add(head, at);
  }

  return {
    add,
    unsend,

    /** In order; plain data, never changed afterwards. */
    commands: (): readonly Command[] => entries.map(({ command }) => command),

    /** Whether anything has yet to be sent. */
    waiting: () => entries.some(({ sentAs }) => sentAs === null),

    /** The commands that touch each conversation, in order. */
    byConv: (): ReadonlyMap<string, readonly SingleCommand[]> =>
      (byConv ??= Map.groupBy(singly(entries), ({ conv }) => conv)),

    /**
     * The next frame to send, or null. `wait`: not while another one is unanswered; acks are merged meanwhile, and a command
     * that the server has to refuse for the moment is not passed by those that come after it.
     */
    next(wait: boolean): ClientFrame | null {
      const first = entries.find(({ sentAs }) => sentAs === null);
      if (first === undefined || (wait && openId !== null)) return null;
      openId = ++lastId;
      if (first.command.t === 'ack') return nextAcks(entries, lastId);
      first.sentAs = lastId;
      return frameOf(first.command, lastId);
    },

    /** An answer, and the rows after it. An ack that has grown since it was sent is sent again. */
    answered({ id, items, sync_version: syncVersion }: Acked, rows: ReadonlyMap<string, Row>): Answered[] {
      const answered = sentIn(id);
      unsend(id);
      return answered.map((entry) => {
        const { command } = entry;
        entry.sentAs = id;
        const statusOf = (conv: string) => items.find((item) => item.conv === conv)?.status;
        ackHeads(entry, (conv) => statusOf(conv) === 'stale');
        const status = 'conv' in command ? statusOf(command.conv) : undefined;
        const isToHead = 'seq' in command && headOfMarked(command, rows) <= command.seq;
        entry.doneAt = isToHead && status === 'stale' ? UNSURE : syncVersion;
        return { command, status };
      });
    },

    unsure: () => entries.some(({ doneAt }) => doneAt === UNSURE),

    /** [AK7][SY9] A snapshot has told the heads: acked again is what it shows with nothing unread below. */
    assure(rows: ReadonlyMap<string, Row>): void {
      for (const entry of entries) {
        if (entry.doneAt !== UNSURE) continue;
        const command = entry.command as AckCommand;
        entry.doneAt = 0;
        add({ ...command, seq: headOfMarked(command, rows) });
      }
    },

    /**
     * What is confirmed and seen is done with. So is hiding when a newer message is known: it would have brought the
     * conversation back, so nothing may hide it that is sent again later (LC4).
     */
    settle(syncVersion: number, rows: ReadonlyMap<string, Row>): void {
      keep(({ command, doneAt }) => {
        if (doneAt !== null) return doneAt > syncVersion;
        if (command.t !== 'prefs' || command.hidden !== true) return true;
        return (rows.get(command.conv)?.head_seq ?? 0) <= command.heldHead;
      });
    },

    /** The server will not do it: answers what is given up. */
    refused(id: number, code: string): Command[] {
      const refused = sentIn(id);
      unsend(id);
      // Another epoch: the heads still say what was seen.
      const isStale = (entry: Entry) => code === 'stale_cursor' && entry.command.t === 'read_all';
      for (const entry of refused) if (isStale(entry)) ackHeads(entry, () => true);
      keep((entry) => !refused.includes(entry));
      return refused.filter((entry) => !isStale(entry)).map(({ command }) => command);
    },

    /** A heartbeat came. When the answers are long overdue everything is sent again, in order. */
    beat(): void {
      const open = entries.some(({ sentAs, doneAt }) => sentAs !== null && doneAt === null);
      if (open && ++beats >= BEATS_MAX) unsend();
    },

    clear: () => keep(() => false),
  };
}

/**
 * The head that is held of a row that has nothing but its mark to take away. Where an ack up to it is stale, the head has moved
 * on the server without a version (SY9). NaN, which is above and below nothing: not such a row.
 */
function headOfMarked({ conv, read_epoch }: AckCommand, rows: ReadonlyMap<string, Row>): number {
  const row = rows.get(conv);
  return row?.marked && row.unread === 0 && row.read_epoch === read_epoch ? row.head_seq : NaN;
}

/** One frame of the acks that stand first, within the limits of a frame. */
function nextAcks(entries: readonly Entry[], id: number): ClientFrame {
  const items = [];
  let bytes = 0;
  for (const entry of entries) {
    if (entry.sentAs !== null) continue;
    if (entry.command.t !== 'ack') break;
    const item = ackItemOf(entry.command);
    bytes += UTF8_BYTES_MAX * JSON.stringify(item).length + 1;
    if (items.length === ACK_ITEMS_MAX || bytes > ITEM_BYTES_MAX) break;
    items.push(item);
    entry.sentAs = id;
  }
  return { t: 'ack', id, items };
}

/** The waiting command that a new one can be merged into without changing the order of anything else. */
function twinOf(entries: readonly Entry[], command: Command): Entry | undefined {
  if (command.t === 'ack') {
    const same = (other: Command) =>
      other.t === 'ack' && other.conv === command.conv && other.read_epoch === command.read_epoch;
    return entries.find((entry) => same(entry.command));
  }
  // Each mark names the epoch that the one before it made. "Read all" touches every conversation: nothing is merged across it.
  if (command.t === 'mark') return undefined;
  const touches = ({ command: other }: Entry) =>
    command.t === 'read_all' || other.t === 'read_all' || other.conv === command.conv;
  const last = entries.findLast(touches);
  const alike = last?.command.t === command.t && 'muted' in last.command === 'muted' in command;
  return alike && last.sentAs === null ? last : undefined;
}

/** Null: the newer one adds nothing. */
function mergedCommand(older: Command, newer: Command): Command | null {
  if (older.t === 'ack' && newer.t === 'ack') return newer.seq > older.seq ? newer : null;
  if (older.t === 'read_all' && newer.t === 'read_all') {
    // What the first one reads already is not among the heads of the second.
    const heads = new Map([...older.heads, ...newer.heads].map((head) => [head.conv, head]));
    return { ...newer, heads: [...heads.values()] };
  }
  return newer;
}

/** Each with its one conversation: "read all" as the acks that it stands for. */
function singly(entries: readonly Entry[]): SingleCommand[] {
  return entries.flatMap(({ command }): readonly SingleCommand[] =>
    command.t === 'read_all' ? command.heads : [command],
  );
}
