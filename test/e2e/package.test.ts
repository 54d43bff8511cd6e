import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signedToken, startProduct } from '../support/product.ts';
import { ROOT, textOf } from '../support/source-tree.ts';

/** What an app gets that installs the package for front ends: built into a folder of its own, so that no other build is in the way. */
const run = promisify(execFile);
/** A bound on a hang. */
const EXAMPLE_TIMEOUT_MS = 60_000;
interface Report {
  analysis: { entrypoints: object };
  problems: Record<string, { resolutionKind?: string }[]>;
}

let folder: string;
let archive: string;
let installed: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tidemark-package-'));
  const built = join(folder, 'package');
  await run(process.execPath, ['scripts/build-client-package.ts', built], { cwd: ROOT });
  const { stdout } = await run('npm', ['pack', '--pack-destination', folder], { cwd: built });
  archive = join(folder, stdout.trim().split('\n').at(-1) ?? '');
  // As every app has one. Without it Node would look above, where others keep theirs, and take that for the package itself.
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'app', private: true, type: 'module' }));
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', archive], { cwd: folder });
  installed = join(folder, 'node_modules/tidemark');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('it is installed without anything else', () => {
  const beside = readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'));
  expect(beside).toEqual(['tidemark']);
  expect(readdirSync(join(installed, 'dist'))).toEqual(['client', 'protocol']);
});

test('publint has nothing to say', async () => {
  const { messages, pkg } = await publint({ pkgDir: installed, pack: false });
  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
});

test('types resolve for every entry, for ES modules', async () => {
  const attw = join(ROOT, 'node_modules/.bin/attw');
  const args = [archive, '--profile', 'esm-only', '--format', 'json'];
  const { stdout: report } = await run(attw, args).catch((error: { stdout: string }) => error);
  const { analysis, problems } = JSON.parse(report) as Report;
  expect(Object.keys(analysis.entrypoints)).toContain('./react');
  // The package is for ES modules: what older ways of resolving make of it is said, and no fault.
  const asked = ['node16-esm', 'bundler'];
  expect(
    Object.values(problems)
      .flat()
      .filter(({ resolutionKind }) => asked.includes(resolutionKind ?? asked[0] ?? '')),
  ).toEqual([]);
});

test('the example of the client’s page runs as it stands there', async () => {
  const [, example = ''] = /```ts\n([^]*?)```/.exec(textOf('client/README.md')) ?? [];
  const product = await startProduct();
  const conv = 'conversation-7';
  const message = (id: string) => ({
    type: 'message.created',
    conv,
    message_id: id,
    sender: 'u2',
    members: ['u1', 'u2'],
  });
  await product.post(message('a'), message('b'));
  // What the app has around it: its address, its token endpoint, its screen.
  const around = `
    globalThis.fetch = async () => new Response(${JSON.stringify(signedToken('u1'))});
    const lines = [];
    function show(badge, list) { lines.push([badge, list.map(({ conv, unread }) => [conv, unread])]); }
  `;
  const afterwards = `
    await tidemark.waitFor(() => tidemark.state === 'live' && tidemark.pending().length === 0);
    console.log(JSON.stringify(lines));
    process.exit();
  `;
  const main = example.replace('https://tidemark.example.com', product.url);
  expect(main).not.toBe(example);
  const [imports = '', ...rest] = main.split('\n\n');
  writeFileSync(join(folder, 'main.mjs'), [imports, around, ...rest, afterwards].join('\n\n'));
  const { stdout } = await run(process.execPath, [join(folder, 'main.mjs')], { timeout: EXAMPLE_TIMEOUT_MS });
  const lines = JSON.parse(stdout) as unknown[];
  expect(lines.at(-1)).toEqual([0, [[conv, 0]]]);
  expect((await product.unread('u1')).total).toBe(0);
});
