// The store of a browser: one database per app and origin, rows and cursor in one transaction (CD2).
import { isSince, persisted } from './persistence.ts';
import type { StoreBackend, StoreChange, Stored } from './persistence.ts';
import type { ClientStore } from './store.ts';
import type { Row } from '../protocol/server-frames.ts';

export interface IndexedDbOptions {
  /** Default: `tidemark`. Apps of one origin that are not one need a name each. */
  name?: string;
  /**
   * Hears of what could not be kept: private mode, a full disk, a database that is broken. The client goes on without, and the
   * next change tries again.
   */
  failed?: (error: unknown) => void;
}

/** Of the tables. Another one is made anew: what is lost is a copy, and what is not confirmed of an older app. */
const SCHEMA_VERSION = 2;
/**
 * Rows by bucket: each record costs the page a task of its own, 10,000 of them more than half a second. Buckets are written one
 * after the other, so that none of these tasks is long.
 */
const ROWS = 'rows';
const BUCKETS = 64;
/** One record: all but the rows. */
const STANDING = 'standing';
const KEY = 0;
/**
 * A database that does not answer is given up: a tab that hangs in the middle of a write holds it from the others, and browsers
 * have had releases in which it never opened. Numbers wait for what is read; nothing waits for a write but the next one.
 */
const READ_MS_MAX = 5_000;
const WRITE_MS_MAX = 30_000;

type Standing = Omit<Stored, 'rows'>;

/** For `new TidemarkClient({ store: indexedDbStore(), … })`. Never throws. */
export function indexedDbStore({ name = 'tidemark', failed = () => {} }: IndexedDbOptions = {}): ClientStore {
  return persisted(indexedDbBackend(name), failed);
}

export function indexedDbBackend(name: string): StoreBackend {
  let opened: Promise<IDBDatabase> | null = null;

  /** Opened once; again after it was lost or could not be opened. */
  async function open(): Promise<IDBDatabase> {
    opened ??= openDatabase(name, () => {
      opened = null;
    });
    try {
      return await opened;
    } catch (error) {
      opened = null;
      throw error;
    }
  }

  /** Resolves when all that `work` has asked for is durable, with what it answers. */
  async function transact<T>(
    mode: IDBTransactionMode,
    work: (store: (table: string) => IDBObjectStore) => T,
  ): Promise<T> {
    const database = await open();
    const transaction = database.transaction([ROWS, STANDING], mode);
    const late = setTimeout(() => abort(transaction), mode === 'readonly' ? READ_MS_MAX : WRITE_MS_MAX);
    const done = new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error ?? new Error('the transaction was aborted'));
    });
    const answer = work((table) => transaction.objectStore(table));
    await done.finally(() => clearTimeout(late));
    return answer;
  }

  return {
    async load(): Promise<unknown> {
      const [standing, rows] = await transact('readonly', (store) => [
        store(STANDING).get(KEY) as IDBRequest<Standing | undefined>,
        store(ROWS).getAll() as IDBRequest<unknown[]>,
      ]);
      return standing.result === undefined ? null : { ...standing.result, rows: rows.result.flat() };
    },

    async write({ since, removed, rows, ...standing }: StoreChange): Promise<boolean> {
      const held = await transact('readwrite', (store) => {
        const read = store(STANDING).get(KEY) as IDBRequest<Standing | undefined>;
        read.onsuccess = () => {
          if (!isSince(since, read.result)) return;
          if (since === null) store(ROWS).clear();
          store(STANDING).put(standing, KEY).onsuccess = () =>
            writeBuckets(store(ROWS), [...changesByBucket(rows, removed)]);
        };
        return read;
      });
      return isSince(since, held.result);
    },

    async clear(): Promise<void> {
      await transact('readwrite', (store) => {
        for (const table of [ROWS, STANDING]) store(table).clear();
      });
    },
  };
}

function abort(transaction: IDBTransaction): void {
  try {
    transaction.abort();
  } catch {
    // It is being committed: nobody holds it up.
  }
}

type Changes = Map<string, Row | null>;

/** Null: the row is no longer held. */
function changesByBucket(rows: readonly Row[], removed: readonly string[]): Map<number, Changes> {
  const buckets = new Map<number, Changes>();
  const add = (conv: string, row: Row | null) => {
    let hash = 0;
    for (let i = 0; i < conv.length; i++) hash = (hash * 31 + conv.charCodeAt(i)) % (2 ** 31 - 1);
    const bucket = hash % BUCKETS;
    const changes = buckets.get(bucket) ?? new Map();
    buckets.set(bucket, changes.set(conv, row));
  };
  for (const row of rows) add(row.conv, row);
  for (const conv of removed) add(conv, null);
  return buckets;
}

/** The first of them, and the others when it is done: the transaction lasts for as long as something is asked of it. */
function writeBuckets(table: IDBObjectStore, [first, ...others]: [number, Changes][]): void {
  if (first === undefined) return;
  const [bucket, changes] = first;
  const read = table.get(bucket) as IDBRequest<Row[] | undefined>;
  read.onsuccess = () => {
    const held = (read.result ?? []).map((row) => [row.conv, row] as const);
    const rows = [...new Map([...held, ...changes]).values()].filter((row) => row !== null);
    table.put(rows, bucket).onsuccess = () => writeBuckets(table, others);
  };
}

async function openDatabase(name: string, lost: () => void): Promise<IDBDatabase> {
  const request = indexedDB.open(name, SCHEMA_VERSION);
  request.onupgradeneeded = () => {
    const database = request.result;
    for (const table of database.objectStoreNames) database.deleteObjectStore(table);
    database.createObjectStore(ROWS);
    database.createObjectStore(STANDING);
  };
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      request.onsuccess = () => request.result.close();
      reject(new Error('the database does not open'));
    }, READ_MS_MAX);
    request.onerror = () => {
      clearTimeout(late);
      reject(request.error ?? new Error('the database was not opened'));
    };
    request.onsuccess = () => {
      clearTimeout(late);
      const database = request.result;
      database.onclose = lost;
      // A newer version of the app, or somebody who deletes it, must not have to wait for this page.
      database.onversionchange = () => {
        database.close();
        lost();
      };
      resolve(database);
    };
  });
}
