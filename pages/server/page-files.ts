import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HttpBindings } from '@hono/node-server';
import type { Context, Hono } from 'hono';
import { bundlePage } from './bundle.ts';

type PageEnvironment = { Bindings: HttpBindings };
type PageContext = Context<PageEnvironment>;

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

type PageFileName = keyof typeof TYPES;

/** Serves the page in `folder` under `path`, and its files below. */
export function servePage(app: Hono<PageEnvironment>, path: string, folder: string): void {
  const answerFile = async (c: PageContext, name: PageFileName): Promise<Response> =>
    c.body(await pageFile(folder, name), 200, { 'content-type': TYPES[name] });
  app.get(path, (c) => answerFile(c, 'index.html'));
  app.get(`${path}/:file`, (c) => {
    const name = c.req.param('file') ?? '';
    return isPageFile(name) ? answerFile(c, name) : c.notFound();
  });
}

function isPageFile(name: string): name is PageFileName {
  return Object.hasOwn(TYPES, name);
}

/** Read at each request: whoever works on the page sees it after a reload. */
async function pageFile(folder: string, name: PageFileName): Promise<string> {
  const file = join(name === THEME ? COMMON_FOLDER : folder, name);
  const isToBeBundled = name === SCRIPT && !existsSync(file);
  return isToBeBundled ? bundlePage(folder) : readFile(file, 'utf8');
}
