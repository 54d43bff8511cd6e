import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundlePage } from './bundle.ts';

export interface PageFile {
  readonly type: string;
  readonly body: string;
}

/** Beside this folder, in the sources and in a build alike. */
const FOLDER = join(import.meta.dirname, '..');
const SCRIPT = 'page.js';
const TYPES = {
  'index.html': 'text/html; charset=utf-8',
  'style.css': 'text/css; charset=utf-8',
  'icon.svg': 'image/svg+xml',
  [SCRIPT]: 'text/javascript; charset=utf-8',
} as const;

export type PageFileName = keyof typeof TYPES;

export function isPageFile(name: string): name is PageFileName {
  return Object.hasOwn(TYPES, name);
}

/** Read at each request: whoever works on the page sees it after a reload. */
export async function pageFile(name: PageFileName): Promise<PageFile> {
  const file = join(FOLDER, name);
  const isToBeBundled = name === SCRIPT && !existsSync(file);
  return { type: TYPES[name], body: isToBeBundled ? await bundlePage(FOLDER) : await readFile(file, 'utf8') };
}
