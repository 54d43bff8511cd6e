// Third part of `npm run build`: the same package for front ends, of what the client imports and nothing else. With the server's
// an app would install ten dependencies that it never loads, and a Node.
import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
const folder = resolve(process.argv[2] ?? join(ROOT, 'dist/package'));

rmSync(folder, { recursive: true, force: true });
const tsc = join(ROOT, 'node_modules/.bin/tsc');
execFileSync(tsc, ['-p', 'tsconfig.client.json', '--outDir', join(folder, 'dist')], { cwd: ROOT, stdio: 'inherit' });
const {
  name,
  version,
  description,
  license,
  type,
  exports: entries,
  peerDependencies,
  peerDependenciesMeta,
} = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<string, unknown>;
const own = {
  name,
  version,
  description,
  license,
  private: true,
  type,
  sideEffects: false,
  exports: entries,
  files: ['dist'],
};
const manifest = { ...own, peerDependencies, peerDependenciesMeta, engines: { node: '>=22' } };
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
copyFileSync(join(ROOT, 'client/README.md'), join(folder, 'README.md'));
console.log(`built the package of the client in ${folder}`);
