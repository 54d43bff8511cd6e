import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundlePage } from './bundle.ts';

export interface PageFile {
  readonly type: string;
  readonly body: string;
}

const SCRIPT = 'page.js';
const THEME = 'theme.css';
const TYPES = {
  'index.html': 'text/html; charset=utf-8',
  'style.css': 'text/css; charset=utf-8',
  [THEME]: 'text/css; charset=utf-8',
  'icon.svg': 'image/svg+xml',
  [SCRIPT]: 'text/javascript; charset=utf-8',
} as const;
/** What all pages have in common; beside this folder, in the sources and in a build alike. */
const COMMON_FOLDER = join(import.meta.dirname, '..');

export type PageFileName = keyof typeof TYPES;

export function isPageFile(name: string): name is PageFileName {
  return Object.hasOwn(TYPES, name);
}

/** A file of the page in `folder`. Read at each request: whoever works on the page sees it after a reload. */
export async function pageFile(folder: string, name: PageFileName): Promise<PageFile> {
  const file = join(name === THEME ? COMMON_FOLDER : folder, name);
  const isToBeBundled = name === SCRIPT && !existsSync(file);
  return { type: TYPES[name], body: isToBeBundled ? await bundlePage(folder) : await readFile(file, 'utf8') };
}
