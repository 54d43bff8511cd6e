import { AsyncLocalStorage } from 'node:async_hooks';
import type { RowFacts } from '../../core/facts.ts';
import { Bug, Unavailable } from '../../errors.ts';
import type {
  ConvUser,
  CountedMessages,
  FactRequest,
  OutboxRow,
  Truth,
  TruthTransaction,
  Writes,
} from '../../ports.ts';
import type { Connection } from './connection.ts';
import { countMessages } from './count-messages.ts';
import { Lane } from './lane.ts';
import { loadFacts } from './load-facts.ts';
import { LogSync } from './log-sync.ts';
import { rowFactsOfPairs, rowFactsOfUser } from './row-facts.ts';
import { storeWrites } from './store-writes.ts';

export interface SqliteTruthParts {
  /** The only connection that writes; transactions take it in turn. */
  readonly writer: Connection;
  /** Sees what is committed, also while a transaction is open. */
  readonly reader: Connection;
  /** Makes durable what was committed before. */
  readonly flush: () => Promise<void>;
  /** Closes both connections and lets go of the data folder. */
  readonly release: () => void;
}

const PRESENT_MEMBERS = 'SELECT user FROM memberships INDEXED BY memberships_present WHERE conv = ? AND member = 1';
const REV = 'SELECT rev FROM conversations WHERE conv = ?';
/** `head_ord` counts the messages that took an ordinal; the few whose flag is not what their ordinal says make up the difference. */
const HEAD = `
  SELECT c.head_seq, c.head_ord + coalesce((
    SELECT sum(CASE m.countable WHEN 1 THEN 1 ELSE -1 END) FROM messages m INDEXED BY messages_off_ordinal WHERE m.conv = c.conv AND m.took_ord <> m.countable), 0)
  FROM conversations c WHERE c.conv = ?`;
const NEXT_USER = 'SELECT user FROM memberships WHERE user > ? ORDER BY user LIMIT 1';
const OUTBOX = `
  SELECT id, conv, user, created_at FROM outbox
  WHERE created_at <= CAST(unixepoch('subsec') * 1000 AS INTEGER) - ? ORDER BY id LIMIT ?`;
const OUTBOX_DONE = 'DELETE FROM outbox WHERE id = ?';
const TRIM_EVENTS = `
  DELETE FROM events WHERE event_id IN (
    SELECT event_id FROM events WHERE accepted_at < ? ORDER BY accepted_at LIMIT ?)`;
const AWAY_RETRY_MS = 1_000;

export class SqliteTruth implements Truth {
  readonly #writer: Connection;
  readonly #reader: Connection;
  readonly #release: () => void;
  readonly #lane = new Lane();
  readonly #log: LogSync;
  /** The transaction that the running code belongs to, across awaits. */
  readonly #enclosing = new AsyncLocalStorage<Transaction>();
  #closing: Promise<void> | null = null;
  /** Set for good once the disk has not taken what was committed (see LogSync). */
  #lost: Unavailable | null = null;

  constructor({ writer, reader, flush, release }: SqliteTruthParts) {
    this.#writer = writer;
    this.#reader = reader;
    this.#log = new LogSync(flush);
    this.#release = release;
  }

  async transact<T>(work: (tx: TruthTransaction) => Promise<T>): Promise<T> {
    return this.#write((tx) => this.#enclosing.run(tx, () => work(tx)));
  }

  async rows(pairs: readonly ConvUser[]): Promise<RowFacts[]> {
    return this.#read((db) => rowFactsOfPairs(db, pairs));
  }

  async rowsOfUser(user: string): Promise<RowFacts[]> {
    return this.#read((db) => rowFactsOfUser(db, user));
  }

  async membersOf(conv: string): Promise<string[]> {
    return this.#read((db) => db.all(PRESENT_MEMBERS, conv).map(([user]) => user as string));
  }

  async revsOf(convs: readonly string[]): Promise<Map<string, number>> {
    return this.#read((db) => foundOf(convs, (conv) => db.get(REV, conv)?.[0] as number | undefined));
  }

  async countMessages(pair: ConvUser, floorSeq: number): Promise<CountedMessages> {
    return this.#read((db) => countMessages(db, pair, floorSeq));
  }

  async heads(convs: readonly string[]): Promise<Map<string, { headSeq: number; countable: number }>> {
    return this.#read((db) =>
      foundOf(convs, (conv) => {
        const row = db.get(HEAD, conv);
        return row && { headSeq: row[0] as number, countable: row[1] as number };
      }),
    );
  }

  async users(after: string | null, limit: number): Promise<string[]> {
    return this.#read((db) => {
      const users: string[] = [];
      // A seek a user rather than DISTINCT, which would walk over all memberships of each.
      for (let last = after ?? ''; users.length < limit;) {
        const next = db.get(NEXT_USER, last)?.[0] as string | undefined;
        if (next === undefined) break;
        users.push((last = next));
      }
      return users;
    });
  }

  async outbox(olderThanMs: number, limit: number): Promise<OutboxRow[]> {
    return this.#read((db) =>
      db.all(OUTBOX, olderThanMs, limit).map(([id, conv, user, createdAtMs]) => ({
        id: id as number,
        conv: conv as string,
        user: user as string | null,
        createdAtMs: createdAtMs as number,
      })),
    );
  }

  async outboxDone(ids: readonly number[]): Promise<void> {
    return this.#write(async () => {
      for (const id of ids) this.#writer.run(OUTBOX_DONE, id);
    });
  }

  async trimEvents(acceptedBeforeMs: number, limit: number): Promise<number> {
    return this.#write(async () => this.#writer.run(TRIM_EVENTS, acceptedBeforeMs, limit));
  }

  async ping(): Promise<void> {
    // It goes on answering reads, but nothing can be written any more: whoever looks has to know that it must be started again.
    if (this.#lost !== null) throw this.#lost;
    this.#read((db) => db.get(REV, ''));
  }

  /** Waits for the transactions that were asked for before; asked for again, waits for the same. */
  async close(): Promise<void> {
    this.#closing ??= this.#lane.run(async () => {
      try {
        await this.#log.flushed();
      } finally {
        this.#release();
      }
    });
    return this.#closing;
  }

  #read<T>(read: (db: Connection) => T): T {
    if (this.#closing !== null) throw closed();
    return this.#reader.snapshot(() => read(this.#reader));
  }

  /** Its own transaction, alone on the writer; all or nothing, and on the disk when it answers. */
  async #write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    if (this.#closing !== null) throw closed();
    // It would wait for itself for ever.
    if (this.#enclosing.getStore()?.isOpen === true) throw new Bug('a transaction was begun inside a transaction');
    const { answer, flushed } = await this.#lane.run(async () => {
      const committed = await this.#commit(work);
      // Also where nothing was written: what the answer rests on may be a commit that is still on its way to the disk.
      return { answer: committed, flushed: this.#log.flushed() };
    });
    await flushed.catch((error: unknown) => {
      const message = 'the disk did not take what was committed; truth has to be opened again';
      this.#lost ??= new Unavailable(message, AWAY_RETRY_MS, 'unavailable', { cause: error });
      throw this.#lost;
    });
    return answer;
  }

  async #commit<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const db = this.#writer;
    const tx = new Transaction(db);
    db.exec('BEGIN IMMEDIATE');
    try {
      const answer = await work(tx);
      tx.end();
      // Also where `work` went on after it: what was stored before the failure must not be committed alone.
      if (tx.failure !== null) throw tx.failure;
      db.exec('COMMIT');
      return answer;
    } catch (error) {
      tx.end();
      // Some failures (a full disk, a damaged page) have rolled back already.
      if (db.inTransaction) db.exec('ROLLBACK');
      throw error;
    }
  }
}

class Transaction implements TruthTransaction {
  readonly #db: Connection;
  isOpen = true;
  failure: Error | null = null;

  constructor(db: Connection) {
    this.#db = db;
  }

  async load(request: FactRequest) {
    return loadFacts(this.#open(), request);
  }

  async store(writes: Writes) {
    try {
      return storeWrites(this.#open(), writes);
    } catch (error) {
      this.failure ??= error as Error;
      throw error;
    }
  }

  async rows(pairs: readonly ConvUser[]) {
    return rowFactsOfPairs(this.#open(), pairs);
  }

  end(): void {
    this.isOpen = false;
  }

  #open(): Connection {
    if (!this.isOpen) throw new Bug('a transaction was used after its end');
    return this.#db;
  }
}

function foundOf<T>(convs: readonly string[], find: (conv: string) => T | undefined): Map<string, T> {
  const found = new Map<string, T>();
  for (const conv of convs) {
    const value = find(conv);
    if (value !== undefined) found.set(conv, value);
  }
  return found;
}

function closed(): Unavailable {
  return new Unavailable('truth is closed', AWAY_RETRY_MS);
}
