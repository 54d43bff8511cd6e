// Commands that the server has not confirmed yet, in the order in which the user gave them.
//
// Acks are merged to the maximum per conversation and read_epoch (AK4), wherever they stand in the queue: a mark raises the
// epoch (AK7), so an ack that was given after it has another key and cannot slip before it. Nothing leaves the queue but by
// an answer; a lost socket makes everything unsent again.
import type { ClientFrame } from '../protocol/client-frames.ts';
import { utf8Length } from '../protocol/schema.ts';
import type { Acked, AckStatus } from '../protocol/server-frames.ts';
import { ackItemOf, frameOf } from './command.ts';
import type { Command } from './command.ts';
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
  /** Heartbeats since it was sent. */
  beats: number;
  /** Shared a frame that was refused as a whole: goes alone, so that only the faulty one is lost. */
  alone: boolean;
}

/** Far above what a person does without a network. */
const ENTRIES_MAX = 10_000;
/** An answer may take long while a store is away (DT8); after so many heartbeats it is taken for lost. */
const BEATS_MAX = 3;
/** Room for the rest of the frame. */
const ITEM_BYTES_MAX = FRAME_BYTES_MAX - 256;

export type CommandQueue = ReturnType<typeof createCommandQueue>;

export function createCommandQueue() {
  let entries: Entry[] = [];
  let lastId = 0;
  /** The last ack frame, while it is unanswered. */
  let openAck: number | null = null;
  let byConv: Map<string, Command[]> | null = null;

  function add(command: Command): void {
    const twin = twinOf(entries, command);
    if (twin === undefined) {
      if (entries.length >= ENTRIES_MAX) throw new TidemarkError('queue_full', `${ENTRIES_MAX} commands are waiting`);
      entries.push({ command, sentAs: null, beats: 0, alone: false });
    } else {
      const merged = mergedCommand(twin.command, command);
      if (merged === null) return;
      twin.command = merged;
      twin.sentAs = null;
    }
    byConv = null;
  }

  /** Everything of that frame is to be sent again: the server could not do it now, or its answer is overdue. */
  function postponed(id: number): void {
    if (openAck === id) openAck = null;
    for (const entry of entries) if (entry.sentAs === id) entry.sentAs = null;
  }

  function take(id: number): Command[] {
    const taken = entries.filter(({ sentAs }) => sentAs === id);
    entries = entries.filter(({ sentAs }) => sentAs !== id);
    if (openAck === id) openAck = null;
    byConv = null;
    return taken.map(({ command }) => command);
  }

  function nextAcks(id: number): ClientFrame {
    const items = [];
    let bytes = 0;
    for (const entry of entries) {
      if (entry.sentAs !== null) continue;
      if (entry.command.kind !== 'ack' || (entry.alone && items.length > 0)) break;
      const item = ackItemOf(entry.command);
      bytes += utf8Length(JSON.stringify(item)) + 1;
      if (items.length === ACK_ITEMS_MAX || bytes > ITEM_BYTES_MAX) break;
      items.push(item);
      entry.sentAs = id;
      entry.beats = 0;
      if (entry.alone) break;
    }
    openAck = id;
    return { t: 'ack', id, items };
  }

  return {
    add,
    postponed,

    /** In order; plain data, never changed afterwards. */
    commands: (): readonly Command[] => entries.map(({ command }) => command),

    /** Whether anything has yet to be sent. */
    waiting: () => entries.some(({ sentAs }) => sentAs === null),

    /** The commands that touch each conversation, in order. */
    byConv: (): ReadonlyMap<string, readonly Command[]> => (byConv ??= index(entries)),

    /**
     * The next frame to send, or null. `gather`: while an ack frame is unanswered the next acks wait and are merged; what
     * stands behind them waits too, for order.
     */
    next(gather: boolean): ClientFrame | null {
      const first = entries.find(({ sentAs }) => sentAs === null);
      if (first === undefined) return null;
      if (first.command.kind === 'ack') return gather && openAck !== null ? null : nextAcks(++lastId);
      first.sentAs = ++lastId;
      first.beats = 0;
      return frameOf(first.command, lastId);
    },

    /** An answer: takes out what it confirms. An ack that has grown since it was sent stays. */
    answered(frame: Acked): Answered[] {
      const statuses = new Map(frame.items.map((item) => [item.conv, item.status]));
      return take(frame.id).map((command, i) => {
        if (command.kind === 'read_all') {
          for (const head of command.heads) if (statuses.get(head.conv) === 'stale') add(head); // [AK8]
          return { command, status: undefined };
        }
        const item = frame.items[i];
        return { command, status: item?.conv === command.conv ? item.status : statuses.get(command.conv) };
      });
    },

    /** The server will not do it: answers what is given up. Acks that shared the frame are tried one by one. */
    refused(id: number, code: string): Command[] {
      const refused = entries.filter(({ sentAs }) => sentAs === id);
      if (refused.length > 1) {
        for (const entry of refused) entry.alone = true;
        postponed(id);
        return [];
      }
      return take(id).filter((command) => {
        if (command.kind !== 'read_all' || code !== 'stale_cursor') return true;
        command.heads.forEach(add); // [AK8] another epoch: the heads still say what was seen
        return false;
      });
    },

    /** A heartbeat came. */
    beat(): void {
      for (const { sentAs } of entries.filter((entry) => entry.sentAs !== null && ++entry.beats >= BEATS_MAX)) {
        if (sentAs !== null) postponed(sentAs);
      }
    },

    /** The socket is gone, and with it the answers. */
    unsend(): void {
      openAck = null;
      for (const entry of entries) entry.sentAs = null;
    },

    clear(): void {
      entries = [];
      byConv = null;
    },
  };
}

/** The waiting command that a new one can be merged into without changing the order of anything else. */
function twinOf(entries: readonly Entry[], command: Command): Entry | undefined {
  if (command.kind === 'ack') {
    const same = (other: Command) =>
      other.kind === 'ack' && other.conv === command.conv && other.readEpoch === command.readEpoch;
    return entries.find((entry) => same(entry.command));
  }
  // "Read all" touches every conversation, so nothing is merged across it.
  const touches = ({ command: other }: Entry) =>
    command.kind === 'read_all' || other.kind === 'read_all' || other.conv === command.conv;
  const last = entries.findLast(touches);
  return last?.sentAs === null && sameShape(last.command, command) ? last : undefined;
}

/** The flag and the place of a mark are two things. */
function sameShape(a: Command, b: Command): boolean {
  if (a.kind === 'mark' && b.kind === 'mark') return (a.fromSeq === undefined) === (b.fromSeq === undefined);
  return a.kind === b.kind;
}

/** Null: the newer one adds nothing. */
function mergedCommand(older: Command, newer: Command): Command | null {
  if (older.kind === 'ack' && newer.kind === 'ack') return newer.seq > older.seq ? newer : null;
  // The first mark raises the epoch that the second one names, so the two go out as one at the first one's epoch.
  if (older.kind === 'mark' && newer.kind === 'mark') return { ...newer, readEpoch: older.readEpoch };
  if (older.kind === 'prefs' && newer.kind === 'prefs') {
    return { ...newer, muted: newer.muted ?? older.muted, hidden: newer.hidden ?? older.hidden };
  }
  return newer;
}

function index(entries: readonly Entry[]): Map<string, Command[]> {
  const byConv = new Map<string, Command[]>();
  const note = (conv: string, command: Command) => {
    const commands = byConv.get(conv);
    if (commands === undefined) byConv.set(conv, [command]);
    else commands.push(command);
  };
  for (const { command } of entries) {
    if (command.kind !== 'read_all') note(command.conv, command);
    else for (const head of command.heads) note(head.conv, head);
  }
  return byConv;
}
