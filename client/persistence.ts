// A store on top of anything that can write a change as one transaction: IndexedDB, a file. One write at a time, and what
// changes meanwhile goes into the next one.
import { row as rowSchema } from '../protocol/server-frames.ts';
import type { Row } from '../protocol/server-frames.ts';
import type { Command } from './command.ts';
import type { ClientStore, Kept } from './store.ts';

/** Plain data, fit for structured clone and JSON. */
export interface Stored extends Omit<Kept, 'rows'> {
  format: typeof STORE_FORMAT;
  rows: Row[];
}

/** What has changed since the last write. One transaction: a cursor must never be ahead of its rows. */
export interface StoreChange extends Stored {
  /** True: `rows` are all the rows; false: those that are new or have changed. */
  replace: boolean;
  /** Conversations whose row is no longer held. */
  removed: string[];
}

export interface StoreBackend {
  /** What was written, as `Stored`; null when there is nothing. */
  load(): Promise<unknown>;
  write(change: StoreChange): Promise<void>;
  clear(): Promise<void>;
}

export const STORE_FORMAT = 1;

/** `failed` hears of every write that failed; the next change tries again, with everything since the last good one. */
export function persisted(backend: StoreBackend, failed: (error: unknown) => void): ClientStore {
  let wanted: Kept | 'nothing' | null = null;
  /** The last that was wanted, whatever became of it; null: it was not written, or somebody else may have written since. */
  let given: Kept | 'nothing' | null = null;
  /** As last written; null: the backend may hold anything. */
  let written: Kept | null = null;
  let writing: Promise<void> | null = null;

  async function write(): Promise<void> {
    // Everything of this turn of the event loop goes into one write.
    await Promise.resolve();
    try {
      while (wanted !== null) {
        const next: Kept | 'nothing' = wanted;
        wanted = null;
        if (next === 'nothing') {
          written = null;
          await backend.clear();
        } else {
          await backend.write(changeBetween(written, next));
          written = next;
        }
      }
    } catch (error) {
      given = null;
      failed(error);
    } finally {
      writing = null;
    }
  }

  function want(next: Kept | 'nothing'): void {
    given = wanted = next;
    writing ??= write();
  }

  return {
    async load() {
      // Somebody else may have written since.
      written = given = null;
      const kept = keptIn(await backend.load());
      if (given === null) written = kept;
      return kept;
    },
    save(kept) {
      if (given === null || given === 'nothing' || !isSame(given, kept)) want(kept);
    },
    clear: () => want('nothing'),
    settled: async () => writing ?? undefined,
  };
}

/** Lives as long as the page; several clients, one after another, may share it. */
export function memoryBackend(): StoreBackend {
  let held: Stored | null = null;
  return {
    load: async () => structuredClone(held),
    write: async ({ replace, removed, ...change }) => {
      const kept = replace ? [] : (held?.rows ?? []);
      const rows = new Map([...kept, ...change.rows].map((row) => [row.conv, row]));
      for (const conv of removed) rows.delete(conv);
      held = structuredClone({ ...change, rows: [...rows.values()] });
    },
    clear: async () => {
      held = null;
    },
  };
}

function changeBetween(written: Kept | null, current: Kept): StoreChange {
  const { rows: held, ...rest } = current;
  const all: StoreChange = { ...rest, format: STORE_FORMAT, replace: true, rows: [...held.values()], removed: [] };
  if (written === null || written.epoch !== current.epoch) return all;
  const rows = all.rows.filter((row) => written.rows.get(row.conv) !== row);
  const removed = [...written.rows.keys()].filter((conv) => !held.has(conv));
  return { ...all, replace: false, rows, removed };
}

/** The pages of a snapshot, for one, change nothing until the last. */
function isSame({ commands, ...before }: Kept, after: Kept): boolean {
  const fields = Object.keys(before) as (keyof typeof before)[];
  return (
    fields.every((field) => before[field] === after[field]) &&
    commands.length === after.commands.length &&
    commands.every((command, i) => command === after.commands[i])
  );
}

/** Null for an older format and for a damaged copy. */
function keptIn(loaded: unknown): Kept | null {
  const stored = loaded as Stored | null | undefined;
  if (typeof stored !== 'object' || stored === null || stored.format !== STORE_FORMAT) return null;
  const { format: _, rows, ...rest } = stored;
  const fits = Array.isArray(rows) && rows.every((row) => rowSchema.fault(row) === null) && areCommands(rest.commands);
  return fits && typeof rest.device === 'string'
    ? { ...rest, rows: new Map(rows.map((row) => [row.conv, row])) }
    : null;
}

function areCommands(value: unknown): value is Command[] {
  return Array.isArray(value) && value.every((command) => typeof (command as Command | null)?.t === 'string');
}
