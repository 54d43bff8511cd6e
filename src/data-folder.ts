import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

const OWNER_ONLY = 0o700;

/** Runs `use` with the data folder there. Whatever makes the folder unusable, the error names the setting. */
export function inDataFolder<T>(folder: string, use: () => T): T {
  return ofDataFolder(folder, () => {
    make(folder);
    return use();
  });
}

/** The same, and where there is no folder none is made. */
export function ofDataFolder<T>(folder: string, use: () => T): T {
  try {
    return use();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`cannot use ${folder}, the folder that TIDEMARK_DATA_DIR names: ${reason}`, { cause: error });
  }
}

/**
 * Not by `recursive`, which tries for ever where a folder is there in which none can be made (/proc), and where the file system is
 * read-only says that a folder is missing.
 */
function make(folder: string): void {
  if (existsSync(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) make(parent);
  try {
    mkdirSync(folder, { mode: OWNER_ONLY });
  } catch (error) {
    // Another process was faster; if what it made is no folder, its first use says so.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
