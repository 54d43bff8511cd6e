import { closeSync, fdatasync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { Truth } from '../../ports.ts';
import { Connection, type OnStatement } from './connection.ts';
import { TruthFileError } from './file-error.ts';
import { lockBeside } from './folder-lock.ts';
import { migrate } from './migrate.ts';
import { SqliteTruth } from './truth.ts';

export interface SqliteTruthOptions {
  /** Path of the database; its folder is made if it is missing. */
  readonly file: string;
  /** Told of each statement and how many rows it answered or changed; for benchmarks and tests. */
  readonly onStatement?: OnStatement;
}

/** Truth in one SQLite file, for one process. Throws TruthFileError when the file is in use, newer, damaged or not ours. */
export function openSqliteTruth({ file, onStatement }: SqliteTruthOptions): Truth {
  makeFolder(dirname(file));
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

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new TruthFileError('unusable', `cannot make the data folder ${folder}: ${(error as Error).message}`, error);
  }
}
