import { cpSync, globSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bundlePage } from '../pages/server/bundle.ts';

/** Second half of `npm run build`: tsc writes only what it compiles, so what is read at run time is copied beside it. */
const ROOT = resolve(import.meta.dirname, '..');
const PAGES = ['demo', 'inspector'];
const ASSETS = ['src/**/*.{sql,lua,html}', `{pages,${PAGES.join(',')}}/**/*.{html,css,svg}`];

const files = globSync(ASSETS, { cwd: ROOT });
for (const file of files) cpSync(join(ROOT, file), join(ROOT, 'dist', file), { recursive: true });
for (const page of PAGES) writeFileSync(join(ROOT, 'dist', page, 'page.js'), await bundlePage(join(ROOT, page)));
console.log(`copied ${files.length} assets to dist/ and bundled ${PAGES.length} pages`);
