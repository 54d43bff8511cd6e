import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
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
  const release = lockBeside(file);
  const opened: Connection[] = [];
  try {
    const writer = new Connection(file, { readOnly: false, onStatement });
    opened.push(writer);
    migrate(writer, file);
    const reader = new Connection(file, { readOnly: true, onStatement });
    opened.push(reader);
    return new SqliteTruth({ writer, reader, release });
  } catch (error) {
    for (const connection of opened) connection.close();
    release();
    throw error;
  }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new TruthFileError('unusable', `cannot make the data folder ${folder}: ${(error as Error).message}`, error);
  }
}
