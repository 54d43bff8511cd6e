// Writes protocol/vectors/ anew: npm run vectors.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { vectorFiles } from './vector-files.ts';

const folder = join(import.meta.dirname, '../protocol/vectors');
rmSync(join(folder, 'sessions'), { recursive: true, force: true });
for (const [path, text] of vectorFiles()) {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  console.log(path);
}
