import type { OutboxRow } from '../../ports.ts';
import { Bulk } from './bulk.ts';
import { NOW_MS } from './clock.ts';
import type { Session } from './session.ts';

const CLAIMABLE = `
  SELECT id, conv, user, created_at FROM outbox FORCE INDEX (PRIMARY)
  WHERE touched_at <= ${NOW_MS} - ? ORDER BY id LIMIT ? FOR UPDATE SKIP LOCKED`;
const TOUCHED = new Bulk(
  '?',
  (rows) => `UPDATE outbox FORCE INDEX (PRIMARY) SET touched_at = ${NOW_MS} WHERE id IN (${rows})`,
);
const DONE = 'DELETE FROM outbox WHERE id BETWEEN ? AND ?';

/**
 * Claims: whoever asks at the same moment gets other rows (SKIP LOCKED), and whoever asks for rows of some age later gets these only
 * when they have not been touched for so long, so that two relays that ask for the same age do not do each other's work. A cursor over
 * ids is no option: ids are given out before the commit, so one that is lower may appear later.
 */
export async function claimOutbox(session: Session, olderThanMs: number, limit: number): Promise<OutboxRow[]> {
  const rows = await session.all(CLAIMABLE, [olderThanMs, limit]);
  await TOUCHED.run(
    session,
    rows.map(([id = null]) => [id]),
  );
  return rows.map(([id, conv, user, createdAtMs]) => ({
    id: id as number,
    conv: conv as string,
    user: user as string | null,
    createdAtMs: createdAtMs as number,
  }));
}

/** One transaction at a time forgets what was done meanwhile: a commit for each batch of events would cost as much as the batch. */
export class OutboxDone {
  readonly #write: (work: (session: Session) => Promise<void>) => Promise<void>;
  #waiting: number[] = [];
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;

  constructor(write: (work: (session: Session) => Promise<void>) => Promise<void>) {
    this.#write = write;
  }

  /** What fails stays in the outbox, and is handed out again. */
  async add(ids: readonly number[]): Promise<void> {
    if (ids.length === 0) return;
    this.#waiting.push(...ids);
    this.#next ??= this.#running.then(async () => {
      this.#next = null;
      const runs = runsOf(this.#waiting);
      this.#waiting = [];
      const writing = this.#write(async (session) => {
        for (const run of runs) await session.run(DONE, run);
      });
      this.#running = writing.catch(() => undefined);
      return writing;
    });
    return this.#next;
  }
}

/** Ids of one batch follow each other, so that a few runs, first and last, say them all. */
function runsOf(ids: readonly number[]): [number, number][] {
  const runs: [number, number][] = [];
  for (const id of ids.toSorted((a, b) => a - b)) {
    const run = runs.at(-1);
    if (run !== undefined && id <= run[1] + 1) run[1] = id;
    else runs.push([id, id]);
  }
  return runs;
}
