import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Truth } from '../../ports.ts';
import { Connection, type OnStatement } from './connection.ts';
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
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
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
