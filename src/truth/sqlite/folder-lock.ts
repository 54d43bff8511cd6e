import { DatabaseSync } from 'node:sqlite';
import { TruthFileError } from './file-error.ts';

const SQLITE_BUSY = 5;

/**
 * Keeps a second process away from `file` and answers how to let go. The lock is one that the system takes back when the process
 * dies, however it dies, so there is nothing stale to clean up: an exclusive transaction on an empty database beside the file.
 */
export function lockBeside(file: string): () => void {
  const lockFile = `${file}.lock`;
  let lock: DatabaseSync;
  try {
    lock = new DatabaseSync(lockFile, { timeout: 0 });
  } catch (error) {
    throw new TruthFileError('unusable', `cannot create ${lockFile}: ${(error as Error).message}`, error);
  }
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) {
      throw new TruthFileError(
        'locked',
        `${file} is in use by another process; one data folder serves one process`,
        error,
      );
    }
    throw new TruthFileError('unusable', `${lockFile} cannot be locked: ${(error as Error).message}`, error);
  }
  return () => lock.close();
}
