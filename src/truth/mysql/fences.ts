import type { Fence, FenceStore } from '../../ports.ts';
import type { Session } from './session.ts';

const FENCES = 'SELECT partition_no, number, run_id, repl_id FROM fences';
/** Updating the key to itself changes nothing: the first one stays. */
const FIRST = `
  INSERT INTO fences (partition_no, number, run_id, repl_id) VALUES (?, ?, ?, ?)
  ON DUPLICATE KEY UPDATE partition_no = VALUES(partition_no)`;
const OWN = 'SELECT 1 FROM fences WHERE partition_no = ? AND number = ? AND run_id = ? AND repl_id = ?';
const RAISE = `
  UPDATE fences SET number = ?, run_id = ?, repl_id = ?
  WHERE partition_no = ? AND number = ? AND run_id = ? AND repl_id = ?`;

interface FencesParts {
  readonly read: <T>(work: (session: Session) => Promise<T>) => Promise<T>;
  readonly write: <T>(work: (session: Session) => Promise<T>) => Promise<T>;
}

/** The fence of each partition (DESIGN §2), raised by compare-and-set: of two nodes that see the same promotion one does it. */
export function createFences({ read, write }: FencesParts): FenceStore {
  return {
    read: () =>
      read(async (session) => {
        const rows = await session.all(FENCES, []);
        return new Map(
          rows.map(([partition, number, runId, replId]) => [
            partition as number,
            { number: number as number, runId: runId as string, replId: replId as string },
          ]),
        );
      }),
    raise: (partition, expected, next) =>
      write(async (session) =>
        expected === null ? insertFirst(session, partition, next) : raise(session, partition, expected, next),
      ),
  };
}

async function insertFirst(session: Session, partition: number, next: Fence): Promise<boolean> {
  const values = [partition, next.number, next.runId, next.replId];
  const known = await session.all('SELECT 1 FROM fences WHERE partition_no = ?', [partition]);
  if (known.length > 0) return false;
  await session.run(FIRST, values);
  // Somebody may have been first in between; then this one is not there.
  return (await session.all(OWN, values)).length === 1;
}

async function raise(session: Session, partition: number, expected: Fence, next: Fence): Promise<boolean> {
  const values = [next.number, next.runId, next.replId, partition, expected.number, expected.runId, expected.replId];
  return (await session.run(RAISE, values)).rows === 1;
}
