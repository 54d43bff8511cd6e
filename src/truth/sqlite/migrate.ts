import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Bug } from '../../errors.ts';
import type { Connection } from './connection.ts';
import { TruthFileError } from './file-error.ts';

/** Stands in the header of each file (`PRAGMA application_id`): "Tide". */
const APPLICATION_ID = 0x54_69_64_65;
const FOLDER = join(import.meta.dirname, 'migrations');
const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;

/**
 * Brings the schema up to date: forward only, everything that is missing in one transaction, each number once. The number reached
 * stands in the header (`PRAGMA user_version`). A file of a newer version, or of another program, is left as it is.
 */
export function migrate(connection: Connection, file: string, folder = FOLDER): void {
  const migrations = readMigrations(folder);
  // Before anything that writes, the mode of the log included.
  checkedVersion(connection, file, migrations.length);
  connection.keepLog();
  connection.exec('BEGIN IMMEDIATE');
  try {
    const version = checkedVersion(connection, file, migrations.length);
    for (const sql of migrations.slice(version)) connection.exec(sql);
    connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${migrations.length}`);
    connection.exec('COMMIT');
  } catch (error) {
    if (connection.inTransaction) connection.exec('ROLLBACK');
    throw error;
  }
}

function checkedVersion(connection: Connection, file: string, known: number): number {
  const pragma = (name: string): number => connection.get(`PRAGMA ${name}`)?.[0] as number;
  const version = pragma('user_version');
  const isFresh = version === 0 && connection.get('SELECT 1 FROM sqlite_schema LIMIT 1') === undefined;
  if (!isFresh && pragma('application_id') !== APPLICATION_ID) {
    throw new TruthFileError('foreign', `${file} is a database of another program`);
  }
  if (version > known) {
    const what = `its schema is at ${version}, this version knows ${known}`;
    throw new TruthFileError('newer', `${file} was written by a newer version of Tidemark (${what})`);
  }
  return version;
}

/** In the order of their numbers, which begin at 1 and have no gaps. */
function readMigrations(folder: string): string[] {
  const names = readdirSync(folder).toSorted();
  return names.map((name, index) => {
    const number = Number(FILE_NAME.exec(name)?.[1]);
    if (number !== index + 1) throw new Bug(`migration ${name}: expected number ${index + 1}`);
    return readFileSync(join(folder, name), 'utf8');
  });
}
