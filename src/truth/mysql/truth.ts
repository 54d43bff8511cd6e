import type { RowFacts } from '../../core/facts.ts';
import { Bug, Unavailable } from '../../errors.ts';
import type {
  ConvUser,
  CountedMessages,
  EpochSource,
  FactRequest,
  Facts,
  FenceStore,
  Leases,
  OutboxRow,
  Random,
  Truth,
  TruthTransaction,
  Writes,
} from '../../ports.ts';
import { Bulk } from './bulk.ts';
import { countMessages } from './count-messages.ts';
import { TruthEpochs } from './epochs.ts';
import { failureOf, RETRY_MS } from './failure.ts';
import { createFences } from './fences.ts';
import { createLeases } from './leases.ts';
import { loadFacts } from './load-facts.ts';
import { claimOutbox, OutboxDone } from './outbox.ts';
import type { Patience, Turn } from './patience.ts';
import type { Pool } from './pool.ts';
import { Reservations } from './reservations.ts';
import { inOrder, PAIRS_AT_ONCE, rowFactsOfPairs, rowFactsOfUser, rowsWithMembership } from './row-facts.ts';
import type { Session } from './session.ts';
import { storeWrites } from './store-writes.ts';

export interface MysqlTruthParts {
  /** READ COMMITTED, and a transaction begins by itself. */
  readonly writers: Pool;
  /** REPEATABLE READ, read only, and each statement commits by itself. */
  readonly readers: Pool;
  readonly patience: Patience;
  readonly random: Random;
  /** How far apart the server gives out ids. */
  readonly idStep: number;
}

/** A count takes as long as there is to count, and whoever asks for one has asked why. */
const COUNT_DEADLINE_MS = 20_000;
const PRESENT_MEMBERS = 'SELECT user FROM memberships FORCE INDEX (memberships_present) WHERE conv = ? AND member = 1';
const REVS = new Bulk(
  '?',
  (rows) => `SELECT conv, rev FROM conversations FORCE INDEX (PRIMARY) WHERE conv IN (${rows})`,
);
/** `head_ord` counts the messages that took an ordinal; the few whose flag is not what their ordinal says make up the difference. */
const HEADS = new Bulk(
  '?',
  (rows) => `
    SELECT c.conv, c.head_seq, c.head_ord + COALESCE((
      SELECT CAST(SUM(k.off_ordinal) AS SIGNED) FROM message_marks k FORCE INDEX (marks_off_ordinal)
      WHERE k.conv = c.conv AND k.off_ordinal <> 0), 0)
    FROM conversations c FORCE INDEX (PRIMARY) WHERE c.conv IN (${rows})`,
);
const USERS = 'SELECT DISTINCT user FROM memberships FORCE INDEX (PRIMARY) WHERE user > ? ORDER BY user LIMIT ?';
const TRIM_EVENTS = 'DELETE FROM events WHERE accepted_at < ? ORDER BY accepted_at LIMIT ?';

/** Truth in MySQL or MariaDB, shared by any number of nodes. */
export class MysqlTruth implements Truth {
  readonly epochs: EpochSource;
  readonly fences: FenceStore;
  readonly leases: Leases;
  readonly #writers: Pool;
  readonly #readers: Pool;
  readonly #patience: Patience;
  readonly #idStep: number;
  readonly #outboxDone: OutboxDone;
  readonly #running = new Set<Promise<unknown>>();
  #closing: Promise<void> | null = null;

  constructor({ writers, readers, patience, random, idStep }: MysqlTruthParts) {
    this.#writers = writers;
    this.#readers = readers;
    this.#patience = patience;
    this.#idStep = idStep;
    const write = <T>(work: (session: Session) => Promise<T>): Promise<T> => this.#write(work);
    this.#outboxDone = new OutboxDone(write);
    this.epochs = new TruthEpochs({ write, random });
    this.fences = createFences({ read: (work) => this.#read(work), write });
    this.leases = createLeases({ write, random });
  }

  async transact<T>(work: (tx: TruthTransaction) => Promise<T>): Promise<T> {
    return this.#write(async (session) => {
      const tx = new Transaction(session, this.#idStep);
      try {
        const answer = await work(tx);
        await tx.finish();
        return answer;
      } finally {
        tx.end();
      }
    });
  }

  async rows(pairs: readonly ConvUser[]): Promise<RowFacts[]> {
    if (pairs.length === 0) return [];
    return this.#read(async (session) => {
      if (pairs.length <= PAIRS_AT_ONCE) {
        const found = await rowsWithMembership(session, pairs);
        const rows = inOrder(found, pairs);
        if (rows.length === pairs.length) return rows;
      }
      return session.snapshot(async () => rowFactsOfPairs(session, pairs));
    });
  }

  async rowsOfUser(user: string): Promise<RowFacts[]> {
    return this.#read(async (session) => rowFactsOfUser(session, user));
  }

  async membersOf(conv: string): Promise<string[]> {
    return this.#read(async (session) => (await session.all(PRESENT_MEMBERS, [conv])).map(([user]) => user as string));
  }

  async revsOf(convs: readonly string[]): Promise<Map<string, number>> {
    if (convs.length === 0) return new Map();
    const rows = await this.#read(async (session) =>
      REVS.all(
        session,
        convs.map((conv) => [conv]),
      ),
    );
    return new Map(rows.map(([conv, rev]) => [conv as string, rev as number]));
  }

  async countMessages(pair: ConvUser, floorSeq: number): Promise<CountedMessages> {
    const count = async (session: Session): Promise<CountedMessages> =>
      session.snapshot(async () => countMessages(session, pair, floorSeq));
    return this.#read(count, COUNT_DEADLINE_MS);
  }

  async heads(convs: readonly string[]): Promise<Map<string, { headSeq: number; countable: number }>> {
    const rows = await this.#read(async (session) =>
      HEADS.all(
        session,
        convs.map((conv) => [conv]),
      ),
    );
    return new Map(
      rows.map(([conv, headSeq, countable]) => [
        conv as string,
        { headSeq: headSeq as number, countable: countable as number },
      ]),
    );
  }

  async users(after: string | null, limit: number): Promise<string[]> {
    const rows = await this.#read(async (session) => session.all(USERS, [after ?? '', limit]));
    return rows.map(([user]) => user as string);
  }

  async outbox(olderThanMs: number, limit: number): Promise<OutboxRow[]> {
    return this.#write(async (session) => claimOutbox(session, olderThanMs, limit));
  }

  async outboxDone(ids: readonly number[]): Promise<void> {
    return this.#outboxDone.add(ids);
  }

  async trimEvents(acceptedBeforeMs: number, limit: number): Promise<number> {
    return this.#write(async (session) => (await session.run(TRIM_EVENTS, [acceptedBeforeMs, limit])).rows);
  }

  async ping(): Promise<void> {
    await this.#read(async (session) => session.all('SELECT 1', []));
  }

  /** Waits for what was asked for before; asked for again, waits for the same. */
  async close(): Promise<void> {
    this.#closing ??= (async () => {
      while (this.#running.size > 0) await Promise.allSettled(this.#running);
      await Promise.all([this.#writers.end(), this.#readers.end()]);
    })();
    return this.#closing;
  }

  async #read<T>(work: (session: Session) => Promise<T>, deadlineMs?: number): Promise<T> {
    return this.#run(async (turn) => {
      const session = await this.#readers.acquire(turn);
      try {
        return await work(session);
      } finally {
        session.release();
      }
    }, deadlineMs);
  }

  /** All or nothing, and durable when it answers. */
  async #write<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#run(async (turn) => {
      const session = await this.#writers.acquire(turn);
      try {
        const answer = await work(session);
        await commit(session);
        return answer;
      } catch (error) {
        await session.rollback();
        throw error;
      } finally {
        session.release();
      }
    });
  }

  async #run<T>(attempt: (turn: Turn) => Promise<T>, deadlineMs?: number): Promise<T> {
    if (this.#closing !== null) throw new Unavailable('truth is closed', RETRY_MS);
    const running = this.#patience.within(attempt, deadlineMs);
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }
}

/**
 * A commit that gets no answer may have happened: running it again could do it twice, so the caller is told to ask again, and finds out
 * by its message_id or event_id.
 */
async function commit(session: Session): Promise<void> {
  try {
    await session.say('COMMIT');
  } catch (error) {
    if (failureOf(error) !== 'away') throw error;
    throw new Unavailable('truth did not say whether it committed', RETRY_MS, 'unavailable', { cause: error });
  }
}

class Transaction implements TruthTransaction {
  readonly #session: Session;
  readonly #idStep: number;
  readonly #reservations = new Reservations();
  #isOpen = true;
  #failure: Error | null = null;

  constructor(session: Session, idStep: number) {
    this.#session = session;
    this.#idStep = idStep;
  }

  async load(request: FactRequest): Promise<Facts> {
    return this.#do(async (session) => loadFacts(session, request, this.#reservations));
  }

  async store(writes: Writes): Promise<readonly number[]> {
    return this.#do(async (session) => {
      const ids = await storeWrites(session, writes, this.#idStep);
      const eventIds = (writes.events ?? []).map(({ eventId }) => eventId);
      const convs = (writes.conversations ?? []).map(({ conv }) => conv);
      this.#reservations.stored(eventIds, convs);
      return ids;
    });
  }

  async rows(pairs: readonly ConvUser[]): Promise<RowFacts[]> {
    return this.#do(async (session) => rowFactsOfPairs(session, pairs));
  }

  /** Before the commit. Also where the work went on after a failure: what it did then must not be committed alone. */
  async finish(): Promise<void> {
    this.#isOpen = false;
    if (this.#failure !== null) throw this.#failure;
    await this.#reservations.release(this.#session);
  }

  end(): void {
    this.#isOpen = false;
  }

  async #do<T>(work: (session: Session) => Promise<T>): Promise<T> {
    if (!this.#isOpen) throw new Bug('a transaction was used after its end');
    try {
      return await work(this.#session);
    } catch (error) {
      this.#failure ??= error as Error;
      throw error;
    }
  }
}
