import { closeSync, existsSync, fsyncSync, linkSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { inDataFolder } from './data-folder.ts';
import type { Random } from './ports.ts';

/** Secrets that nobody configured: made once, kept in the data folder, readable by the owner alone. */
export interface KeptSecret {
  readonly value: string;
  readonly file: string;
  /** It did not exist before. */
  readonly isNew: boolean;
}

export type SecretName = 'api-key' | 'token-secret';

/** 36^48 possible values: 248 bits. */
const SECRET_LENGTH = 48;
const DRAFT_LENGTH = 8;
const OWNER_ONLY = 0o600;

/** Reads the secret, or makes it when there is none. Two processes that start at once end up with the same one. */
export function keptSecret(dataDir: string, name: SecretName, random: Random): KeptSecret {
  return inDataFolder(dataDir, () => {
    const file = join(dataDir, name);
    const isNew = !existsSync(file) && create(file, random);
    return { value: readSecret(dataDir, name), file, isNew };
  });
}

/** Throws when there is none. */
export function readSecret(dataDir: string, name: SecretName): string {
  const file = join(dataDir, name);
  const value = readFileSync(file, 'utf8').trim();
  if (value === '') throw new Error(`${file} is empty; delete it and a new one is made`);
  return value;
}

/** Written beside its place first: a file that is there is complete. False when another process was faster. */
function create(file: string, random: Random): boolean {
  const draft = `${file}.${random.token(DRAFT_LENGTH)}`;
  const handle = openSync(draft, 'wx', OWNER_ONLY);
  try {
    writeSync(handle, `${random.token(SECRET_LENGTH)}\n`);
    fsyncSync(handle);
    linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    closeSync(handle);
    unlinkSync(draft);
  }
}
