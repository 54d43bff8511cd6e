import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findKit } from '../../scripts/kit.ts';
import { runNode } from '../support/server-process.ts';
import { ROOT } from '../support/source-tree.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** The client in examples/python, written from the specification alone: its own tests, then scenarios against the product. */
const EXAMPLE = join(ROOT, 'examples/python');
const API_KEY = 'k'.repeat(32);
const TOKEN_SECRET = 's'.repeat(32);
const LEAST_SCENARIOS = 20;
/** Few enough to be played some two hundred times, once for every lie and every wrong expectation. */
const LIED_ABOUT = 'B08,B36,B61,B73,B79,X9';

interface Run {
  readonly code: number;
  readonly output: string;
}

let venv = '';
let python: { path: string } | { reason: string };

function run(file: string, args: string[]): Promise<Run> {
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PIP_DISABLE_PIP_VERSION_CHECK: '1' };
  return new Promise((done) => {
    execFile(file, args, { cwd: EXAMPLE, env, maxBuffer: 2 ** 26 }, (fault, stdout, stderr) => {
      const code = fault === null ? 0 : typeof fault.code === 'number' ? fault.code : -1;
      done({ code, output: `${stdout}${stderr}${code === -1 ? (fault?.message ?? '') : ''}` });
    });
  });
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}

/** A Python with the one package that the client needs, in a folder that is gone afterwards; or why there is none. */
async function preparePython(): Promise<typeof python> {
  const version = await run('python3', ['-c', 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else 1)']);
  if (version.code !== 0) return { reason: `no python3 of version 3.11 or later: ${version.output}` };
  const made = await run('python3', ['-m', 'venv', venv]);
  if (made.code !== 0) return { reason: `python3 makes no venv: ${made.output}` };
  const path = join(venv, 'bin/python');
  const installed = await run(path, ['-m', 'pip', 'install', '--quiet', '--retries', '1', '-r', 'requirements.txt']);
  if (installed.code === 0) return { path };
  // An index that cannot be reached knows no version at all; any other trouble with the requirements is a fault of ours.
  if (installed.output.includes('from versions: none'))
    return { reason: `no package index: ${lastLine(installed.output)}` };
  throw new Error(installed.output);
}

beforeAll(async () => {
  venv = mkdtempSync(join(tmpdir(), 'tidemark-python-'));
  python = await preparePython();
});

afterAll(() => rmSync(venv, { recursive: true, force: true }));

test('its unit tests pass, with the vectors and the sessions of the protocol', async ({ skip }) => {
  if ('reason' in python) return skip(python.reason);
  const { code, output } = await run(python.path, ['-W', 'error', '-m', 'unittest']);
  expect(output).toMatch(/^Ran \d{2,} tests/m);
  expect({ code, output }).toMatchObject({ code: 0 });
});

test('devices that it plays pass scenarios of the kit in both subprotocols, and no lie passes', async ({ skip }) => {
  if ('reason' in python) return skip(python.reason);
  const kit = findKit();
  if ('reason' in kit) return skip(kit.reason);
  const server = runNode(['src/main.ts'], {
    TIDEMARK_PORT: '0',
    TIDEMARK_DATA_DIR: tempFolder(),
    TIDEMARK_API_KEY: API_KEY,
    TIDEMARK_TOKEN_SECRET: TOKEN_SECRET,
  });
  const target = ['--url', await server.ready, '--api-key', API_KEY, '--token-secret', TOKEN_SECRET];
  for (const more of [
    ['--codec', 'json'],
    ['--codec', 'msgpack'],
    ['--lies', '--only', LIED_ABOUT],
  ]) {
    const args = ['scenarios.py', ...target, ...more, join(kit.dir, 'scenarios')];
    const { code, output } = await run(python.path, args);
    expect({ code, output }).toMatchObject({ code: 0 });
    expect(Number(/^(\d+) passed, 0 failed$/m.exec(output)?.[1])).toBeGreaterThanOrEqual(LEAST_SCENARIOS);
  }
});
