import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runProgram } from '../support/server-process.ts';
import { ROOT } from '../support/source-tree.ts';

/** What is built is what gets deployed: tsc copies no SQL and no pages, and only a start shows that something is missing. */
let dataDir: string;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'tidemark-build-'));
  await promisify(execFile)('npm', ['run', 'build'], { cwd: ROOT });
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

test('the built artefact starts, takes an event and stops cleanly', async () => {
  const child = spawn(process.execPath, ['dist/src/main.js'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { TIDEMARK_PORT: '0', TIDEMARK_DATA_DIR: dataDir, TIDEMARK_API_KEY: 'k'.repeat(32) },
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  try {
    const { url, demo } = await announced(child.stdout);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const answer = await fetch(`${url}/v1/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${'k'.repeat(32)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ events: [{ type: 'conversation.created', conv: 'c', members: ['u'] }] }),
    });
    expect(await answer.json()).toEqual({ results: [{ ok: true }] });
    const entered = await fetch(demo, { redirect: 'manual' });
    const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? '';
    for (const file of ['/demo', '/demo/page.js', '/demo/theme.css', '/demo/style.css', '/demo/icon.svg']) {
      expect((await fetch(url + file, { headers: { cookie } })).status).toBe(200);
    }
    for (const file of ['', '/page.js', '/theme.css', '/style.css', '/icon.svg']) {
      expect((await fetch(`${url}/inspect${file}`)).status).toBe(200);
    }
    // Bundled when it was built: an installation without the tools of development has it too.
    for (const page of ['demo', 'inspector']) expect(existsSync(join(ROOT, 'dist', page, 'page.js'))).toBe(true);
  } finally {
    child.kill('SIGTERM');
  }
  expect((await exited)[0]).toBe(0);
});

test('on an older Node what is built says which one it needs, and ends', async (context) => {
  const nodes = olderNodes();
  if (nodes.length === 0) context.skip('there is no older Node on the PATH');
  for (const node of nodes) {
    for (const args of [['dist/src/main.js'], ['dist/src/cli/tidemark.js', '--help']]) {
      const run = runProgram(node, args, {});
      expect(await run.exit).toBe(1);
      expect(run.lines).toEqual([]);
      expect(run.errors()).toMatch(/^tidemark needs Node 24 or newer, and this is Node \d+\.\d+\.\d+\n$/);
    }
  }
});

/** Those of the machine, whose npm brought the Node that runs this. */
function olderNodes(): string[] {
  const nodes = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  return nodes.filter((node) => {
    if (!existsSync(node)) return false;
    const version = execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' });
    return Number.parseInt(version, 10) < 24;
  });
}

/** Where the server is, and where its demo. */
async function announced(stdout: NodeJS.ReadableStream): Promise<{ url: string; demo: string }> {
  let demo = '';
  for await (const line of createInterface({ input: stdout })) {
    const { msg, url = '' } = JSON.parse(line) as { msg?: string; url?: string };
    if (msg === 'demo') demo = url;
    if (msg === 'ready') return { url, demo };
  }
  throw new Error('the artefact ended without saying that it is ready');
}
