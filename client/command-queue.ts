// Commands that the server has not confirmed yet, in the order in which the user gave them.
//
// Acks are merged to the maximum per conversation and read_epoch (AK4), wherever they stand in the queue: a mark raises the
// epoch (AK7), so an ack that was given after it has another key and cannot slip before it. Nothing leaves the queue but by
// an answer, and what is confirmed stays until its effect has been seen; a lost socket makes the rest unsent again.
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
  /** Confirmed; its effect is in this sync_version, which this device may not have reached yet. */
  doneAt: number | null;
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
  /** The last frame, while it is unanswered. */
  let openId: number | null = null;
  /** Heartbeats since the last answer. */
  let beats = 0;
  let byConv: Map<string, Command[]> | null = null;

  const sentIn = (id: number) => entries.filter(({ sentAs }) => sentAs === id);

  function add(command: Command, at = entries.length): void {
    const twin = twinOf(entries, command);
    if (twin === undefined) {
      if (entries.length >= ENTRIES_MAX) throw new TidemarkError('queue_full', `${ENTRIES_MAX} commands are waiting`);
      entries.splice(at, 0, { command, sentAs: null, doneAt: null, alone: false });
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
      if (entry.doneAt === null && (id === undefined || id === entry.sentAs)) entry.sentAs = null;
    }
  }

  /** [AK8] "Read all" leaves rows that have changed: they are acked at the head that was held, before all that came after. */
  function ackHeads(entry: Entry, wanted: (conv: string) => boolean): void {
    if (entry.command.kind !== 'read_all') return;
    const at = entries.indexOf(entry);
    for (const head of entry.command.heads) if (wanted(head.conv)) add(head, at);
  }

  return {
    add,
    unsend,

    /** Those that no server has confirmed, in order; plain data, never changed afterwards. */
    commands: (): readonly Command[] => entries.filter(({ doneAt }) => doneAt === null).map(({ command }) => command),

    /** Whether anything has yet to be sent. */
    waiting: () => entries.some(({ sentAs }) => sentAs === null),

    /** The commands that touch each conversation, in order, with those whose effect has not been seen yet. */
    byConv: (): ReadonlyMap<string, readonly Command[]> => (byConv ??= index(entries)),

    /**
     * The next frame to send, or null. `wait`: not while another one is unanswered; acks are merged meanwhile, and a command
     * that the server has to refuse for the moment is not passed by those that come after it.
     */
    next(wait: boolean): ClientFrame | null {
      const first = entries.find(({ sentAs }) => sentAs === null);
      if (first === undefined || (wait && openId !== null)) return null;
      openId = ++lastId;
      if (first.command.kind === 'ack') return nextAcks(entries, lastId);
      first.sentAs = lastId;
      return frameOf(first.command, lastId);
    },

    /** An answer. An ack that has grown since it was sent is sent again. */
    answered({ id, items, sync_version: syncVersion }: Acked): Answered[] {
      const answered = sentIn(id);
      unsend(id);
      return answered.map((entry) => {
        const { command } = entry;
        entry.sentAs = id;
        entry.doneAt = syncVersion;
        const statusOf = (conv: string) => items.find((item) => item.conv === conv)?.status;
        ackHeads(entry, (conv) => statusOf(conv) === 'stale');
        return { command, status: 'conv' in command ? statusOf(command.conv) : undefined };
      });
    },

    /** What is confirmed and seen is done with. */
    settle(syncVersion: number): void {
      keep(({ doneAt }) => doneAt === null || doneAt > syncVersion);
    },

    /** The server will not do it: answers what is given up. Acks that shared the frame are tried one by one. */
    refused(id: number, code: string): Command[] {
      const refused = sentIn(id);
      unsend(id);
      for (const entry of refused) entry.alone = true;
      const [only] = refused;
      if (only === undefined || refused.length > 1) return [];
      const staysTrue = code === 'stale_cursor' && only.command.kind === 'read_all';
      // Another epoch: the heads still say what was seen.
      if (staysTrue) ackHeads(only, () => true);
      keep((entry) => entry !== only);
      return staysTrue ? [] : [only.command];
    },

    /** A heartbeat came. When the answers are long overdue everything is sent again, in order. */
    beat(): void {
      const open = entries.some(({ sentAs, doneAt }) => sentAs !== null && doneAt === null);
      if (open && ++beats >= BEATS_MAX) unsend();
    },

    clear: () => keep(() => false),
  };
}

/** One frame of the acks that stand first, within the limits of a frame. */
function nextAcks(entries: readonly Entry[], id: number): ClientFrame {
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
    if (entry.alone) break;
  }
  return { t: 'ack', id, items };
}

/** The waiting command that a new one can be merged into without changing the order of anything else. */
function twinOf(entries: readonly Entry[], command: Command): Entry | undefined {
  if (command.kind === 'ack') {
    const same = (other: Command) =>
      other.kind === 'ack' && other.conv === command.conv && other.readEpoch === command.readEpoch;
    return entries.find((entry) => same(entry.command));
  }
  // Each mark names the epoch that the one before it made. "Read all" touches every conversation: nothing is merged across it.
  if (command.kind === 'mark') return undefined;
  const touches = ({ command: other }: Entry) =>
    command.kind === 'read_all' || other.kind === 'read_all' || other.conv === command.conv;
  const last = entries.findLast(touches);
  return last?.sentAs === null && last.command.kind === command.kind ? last : undefined;
}

/** Null: the newer one adds nothing. */
function mergedCommand(older: Command, newer: Command): Command | null {
  if (older.kind === 'ack' && newer.kind === 'ack') return newer.seq > older.seq ? newer : null;
  if (older.kind === 'prefs' && newer.kind === 'prefs') {
    return { ...newer, muted: newer.muted ?? older.muted, hidden: newer.hidden ?? older.hidden };
  }
  if (older.kind === 'read_all' && newer.kind === 'read_all') {
    // What the first one reads already is not among the heads of the second.
    const heads = new Map([...older.heads, ...newer.heads].map((head) => [head.conv, head]));
    return { ...newer, heads: [...heads.values()] };
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
