// What the app sees: the rows of one verified version of the server, with what this device has asked for laid over them.
import type { ClientState } from '../protocol/client-state.ts';
import { noSums, withoutRow, withRow } from '../protocol/row-sums.ts';
import type { Row } from '../protocol/server-frames.ts';
import type { SingleCommand } from './command.ts';
import { overlaid } from './overlay.ts';
import type { ShownRow } from './overlay.ts';

/** A conversation as shown. The object stays the same for as long as nothing of it changes. */
export interface Conversation {
  readonly conv: string;
  readonly unread: number;
  readonly mentions: number;
  /** Read up to this seq. */
  readonly readSeq: number;
  readonly readEpoch: number;
  /** The newest message; not kept up to date while `capped`. */
  readonly headSeq: number;
  /** A countable message of somebody else above this seq is unread. */
  readonly floorSeq: number;
  readonly muted: boolean;
  /** Marked as unread by the user; adds nothing to the totals. Also until the server has counted from where it was marked. */
  readonly marked: boolean;
  /** Not in the list and not in the totals. */
  readonly hidden: boolean;
  /** More than `unread` are unread. */
  readonly capped: boolean;
}

export interface Totals {
  readonly total: number;
  readonly badge: number;
  readonly mentions: number;
}

type Effects = ReadonlyMap<string, readonly SingleCommand[]>;

export function createView() {
  let rows: ClientState['rows'] = new Map();
  let effects: Effects = new Map();
  let list: readonly Conversation[] | null = null;
  let sums = noSums;
  const conversations = new Map<string, Conversation>();

  const shownRow = (row: Row) => overlaid(row, effects.get(row.conv) ?? []);

  /** Whether it looks different now. */
  function show(conv: string, row: ShownRow): boolean {
    if (row.gone === true) return conversations.delete(conv);
    const held = conversations.get(conv);
    const next = conversationOf(row);
    if (held !== undefined && same(held, next)) return false;
    conversations.set(conv, next);
    return true;
  }

  return {
    get: (conv: string) => conversations.get(conv),

    /** What is listed, in no order that means anything: the app has its own. The same array until something changes. */
    list: () => (list ??= [...conversations.values()].filter(({ hidden }) => !hidden)),

    totals: (): Totals => sums,

    /** The row as shown, for a command that is about to be made of it. */
    row(conv: string): ShownRow | undefined {
      const row = rows.get(conv);
      return row && shownRow(row);
    },

    rows: (): ShownRow[] => [...rows.values()].map(shownRow),

    /** Takes a new state and new commands; answers the conversations that look different now. */
    update(state: ClientState, nextEffects: Effects): string[] {
      const changed: string[] = [];
      const [rowsBefore, effectsBefore] = [rows, effects];
      rows = state.rows;
      effects = nextEffects;
      sums = state.own;
      for (const row of rows.values()) {
        const { conv } = row;
        if (row === rowsBefore.get(conv) && !effects.has(conv) && !effectsBefore.has(conv)) continue;
        const shown = shownRow(row);
        if (shown !== row) sums = withRow(withoutRow(sums, row), shown);
        if (show(conv, shown)) changed.push(conv);
      }
      for (const conv of conversations.keys()) {
        if (!rows.has(conv) && conversations.delete(conv)) changed.push(conv);
      }
      if (changed.length > 0) list = null;
      return changed;
    },
  };
}

function conversationOf(row: ShownRow): Conversation {
  return {
    conv: row.conv,
    unread: row.unread,
    mentions: row.mentions,
    readSeq: row.read_seq,
    readEpoch: row.read_epoch,
    headSeq: row.head_seq,
    floorSeq: row.floor_seq ?? row.read_seq,
    muted: row.muted === true,
    marked: row.marked === true || row.uncounted === true,
    hidden: row.hidden === true,
    capped: row.capped === true,
  };
}

function same(a: Conversation, b: Conversation): boolean {
  return (Object.keys(a) as (keyof Conversation)[]).every((key) => a[key] === b[key]);
}
