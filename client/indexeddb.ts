// The store of a browser: one database per app and origin, rows and cursor in one transaction (CD2).
import { persisted } from './persistence.ts';
import type { StoreBackend, StoreChange, Stored } from './persistence.ts';
import type { ClientStore } from './store.ts';

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
const SCHEMA_VERSION = 1;
const ROWS = 'rows';
/** One record: all but the rows. */
const STANDING = 'standing';
const KEY = 0;

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
    const done = new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error ?? new Error('the transaction was aborted'));
    });
    const answer = work((table) => transaction.objectStore(table));
    await done;
    return answer;
  }

  return {
    async load(): Promise<unknown> {
      const [standing, rows] = await transact('readonly', (store) => [
        store(STANDING).get(KEY) as IDBRequest<Omit<Stored, 'rows'> | undefined>,
        store(ROWS).getAll() as IDBRequest<unknown[]>,
      ]);
      return standing.result === undefined ? null : { ...standing.result, rows: rows.result };
    },

    async write({ replace, removed, rows, ...standing }: StoreChange): Promise<void> {
      await transact('readwrite', (store) => {
        if (replace) store(ROWS).clear();
        for (const row of rows) store(ROWS).put(row);
        for (const conv of removed) store(ROWS).delete(conv);
        store(STANDING).put(standing, KEY);
      });
    },

    async clear(): Promise<void> {
      await transact('readwrite', (store) => {
        for (const table of [ROWS, STANDING]) store(table).clear();
      });
    },
  };
}

async function openDatabase(name: string, lost: () => void): Promise<IDBDatabase> {
  const request = indexedDB.open(name, SCHEMA_VERSION);
  request.onupgradeneeded = () => {
    const database = request.result;
    for (const table of database.objectStoreNames) database.deleteObjectStore(table);
    database.createObjectStore(ROWS, { keyPath: 'conv' });
    database.createObjectStore(STANDING);
  };
  return new Promise((resolve, reject) => {
    request.onerror = () => reject(request.error ?? new Error('the database was not opened'));
    request.onsuccess = () => {
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
