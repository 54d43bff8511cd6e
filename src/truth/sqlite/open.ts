import { closeSync, fdatasync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Truth } from '../../ports.ts';
import { Connection, type OnStatement } from './connection.ts';
import { lockBeside } from './folder-lock.ts';
import { migrate } from './migrate.ts';
import { SqliteTruth } from './truth.ts';

export interface SqliteTruthOptions {
  /** Path of the database; its folder exists. */
  readonly file: string;
  /** Told of each statement and how many rows it answered or changed; for benchmarks and tests. */
  readonly onStatement?: OnStatement;
}

/** Truth in one SQLite file, for one process. Throws TruthFileError when the file is in use, newer, damaged or not ours. */
export function openSqliteTruth({ file, onStatement }: SqliteTruthOptions): Truth {
  const undo = [lockBeside(file)];
  const release = (): void => undo.toReversed().forEach((step) => step());
  try {
    const writer = new Connection(file, { readOnly: false, onStatement });
    undo.push(() => writer.close());
    migrate(writer, file);
    writer.leaveLogToCaller();
    // The migration has committed in full, so the log is there, and so is its entry in the folder.
    const log = openSync(`${file}-wal`, 'r+');
    undo.push(() => closeSync(log));
    const reader = new Connection(file, { readOnly: true, onStatement });
    undo.push(() => reader.close());
    return new SqliteTruth({ writer, reader, flush: async () => flush(log), release });
  } catch (error) {
    release();
    throw error;
  }
}

const flush = promisify(fdatasync);
