import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { openSqliteTruth } from '../../src/truth/sqlite/open.ts';
import { truthContract } from './truth.ts';

const folder = mkdtempSync(join(tmpdir(), 'tidemark-truth-'));

truthContract('SQLite', async () => openSqliteTruth({ file: join(folder, 'truth.db') }));

afterAll(() => rmSync(folder, { recursive: true }));
