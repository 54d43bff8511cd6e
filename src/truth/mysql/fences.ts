import type { FenceStore } from '../../ports.ts';
import type { Session } from './session.ts';

const FENCES = 'SELECT partition_no, number, run_id, repl_id FROM fences';
/** Updating the key to itself changes nothing: the first one stays. */
const FIRST = `
  INSERT INTO fences (partition_no, number, run_id, repl_id) VALUES (?, ?, ?, ?)
  ON DUPLICATE KEY UPDATE partition_no = VALUES(partition_no)`;
const RAISE = `
  UPDATE fences SET number = ?, run_id = ?, repl_id = ?
  WHERE partition_no = ? AND number = ? AND run_id = ? AND repl_id = ?`;

interface FencesParts {
  readonly read: <T>(work: (session: Session) => Promise<T>) => Promise<T>;
  readonly write: <T>(work: (session: Session) => Promise<T>) => Promise<T>;
}

/** The fence of each partition (ARCHITECTURE, truth and state), raised by compare-and-set: of two nodes that see the same promotion one does it. */
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
      write(async (session) => {
        const pair = [next.number, next.runId, next.replId];
        const { rows } =
          expected === null
            ? await session.run(FIRST, [partition, ...pair])
            : await session.run(RAISE, [...pair, partition, expected.number, expected.runId, expected.replId]);
        return rows === 1;
      }),
  };
}
