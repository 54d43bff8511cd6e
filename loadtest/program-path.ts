import { accessSync, constants } from 'node:fs';
import path from 'node:path';

/** Where a program lies: in the first folder of the PATH that has it, or else of `more`; null: in none. */
export function programPath(command: string, more: readonly string[] = []): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(path.delimiter), ...more];
  return folders.map((folder) => path.join(folder, command)).find(isExecutable) ?? null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
