import { cpSync, globSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bundlePage } from '../demo/server/bundle.ts';

/** Second half of `npm run build`: tsc writes only what it compiles, so what is read at run time is copied beside it. */
const ROOT = resolve(import.meta.dirname, '..');
const ASSETS = ['src/**/*.{sql,lua,html}', 'demo/**/*.{html,css,svg}'];

const files = globSync(ASSETS, { cwd: ROOT });
for (const file of files) cpSync(join(ROOT, file), join(ROOT, 'dist', file), { recursive: true });
writeFileSync(join(ROOT, 'dist/demo/page.js'), await bundlePage(join(ROOT, 'demo')));
console.log(`copied ${files.length} assets to dist/ and bundled the demo page`);
