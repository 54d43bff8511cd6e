// A store on top of anything that can write a change as one transaction: IndexedDB, a file. One write at a time, and what
// changes meanwhile goes into the next one.
import { row as rowSchema } from '../protocol/server-frames.ts';
import type { Row } from '../protocol/server-frames.ts';
import { isCommand } from './command.ts';
import type { ClientStore, Kept } from './store.ts';

/** Plain data, fit for structured clone and JSON. */
export interface Stored extends Omit<Kept, 'rows'> {
  format: typeof STORE_FORMAT;
  rows: Row[];
}

/** What has changed since the last write. One transaction: a cursor must never be ahead of its rows. */
export interface StoreChange extends Stored {
  /** What `rows` are new or have changed since; null: they are all the rows. */
  since: Version | null;
  /** Conversations whose row is no longer held. */
  removed: string[];
}

/** Two copies of one version have the same rows. Users share epochs and may stand at one number, so it says whose it is. */
export type Version = Pick<Kept, 'user' | 'epoch' | 'syncVersion'>;

export interface StoreBackend {
  /** What was written, as `Stored`; null when there is nothing. */
  load(): Promise<unknown>;
  /** False, and nothing is written: what is held is not the version that the change comes after (`isSince`). */
  write(change: StoreChange): Promise<boolean>;
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
      while (wanted !== null) await put(wanted);
    } finally {
      writing = null;
    }
  }

  async function put(next: Kept | 'nothing'): Promise<void> {
    wanted = null;
    try {
      if (next === 'nothing') await backend.clear();
      // Another tab has written since, or the browser or somebody in it has wiped the database while this page was open.
      else if (!(await backend.write(changeBetween(written, next)))) await backend.write(changeBetween(null, next));
      written = next === 'nothing' ? null : next;
    } catch (error) {
      if (given === next) given = null;
      failed(error);
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
    write: async ({ since, removed, ...change }) => {
      if (!isSince(since, held)) return false;
      const kept = since === null ? [] : (held?.rows ?? []);
      const rows = new Map([...kept, ...change.rows].map((row) => [row.conv, row]));
      for (const conv of removed) rows.delete(conv);
      held = structuredClone({ ...change, rows: [...rows.values()] });
      return true;
    },
    clear: async () => {
      held = null;
    },
  };
}

/** Whether a change may be laid over what is held. */
export function isSince(since: Version | null, held: Version | null | undefined): boolean {
  if (since === null) return true;
  return held?.user === since.user && held.epoch === since.epoch && held.syncVersion === since.syncVersion;
}

function changeBetween(written: Kept | null, current: Kept): StoreChange {
  const { rows: held, ...rest } = current;
  const all: StoreChange = { ...rest, format: STORE_FORMAT, since: null, rows: [...held.values()], removed: [] };
  if (written === null || written.epoch !== current.epoch) return all;
  const rows = all.rows.filter((row) => written.rows.get(row.conv) !== row);
  const removed = [...written.rows.keys()].filter((conv) => !held.has(conv));
  const { user, epoch, syncVersion } = written;
  return { ...all, since: { user, epoch, syncVersion }, rows, removed };
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
  const fits =
    Array.isArray(rows) &&
    rows.every((row) => rowSchema.fault(row) === null) &&
    Array.isArray(rest.commands) &&
    rest.commands.every(isCommand);
  return fits && typeof rest.device === 'string'
    ? { ...rest, rows: new Map(rows.map((row) => [row.conv, row])) }
    : null;
}
