import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeTrace } from '../support/trace-writer.ts';

const REPLAY = path.join(import.meta.dirname, '../../loadtest/replay/main.ts');
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'tidemark-trace-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function replay(...args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [REPLAY, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (text) => (output += String(text)));
  child.stderr.on('data', (text) => (output += String(text)));
  // Not when it exits: what it said last may be still on its way.
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

test.each([
  { seed: 1, gzip: true },
  { seed: 2, gzip: false },
  { seed: 3, gzip: true },
])(
  '[CN6][CN7][CN9][LC3][LC5] a trace with recalls, edits, doubled events and preferences: nothing wrong (%o)',
  async ({ seed, gzip }) => {
    const trace = path.join(folder, `trace-${seed}`);
    writeTrace({ folder: trace, seed, gzip });
    const { code, output } = await replay(trace);
    expect(output).toMatch(/^wrong +0$/m);
    expect(code, output).toBe(0);
  },
);

test('[CN9][AK4] the same while the server is killed twice', async () => {
  const trace = path.join(folder, 'trace-killed');
  writeTrace({ folder: trace, seed: 4, gzip: false });
  const { code, output } = await replay(trace, '--kill', '2', '--seed', '7');
  expect(output.match(/^killed at/gm)).toHaveLength(2);
  expect(code, output).toBe(0);
});

test('a wrong number is named and ends with exit code 1', async () => {
  const trace = path.join(folder, 'trace-lie');
  writeTrace({ folder: trace, seed: 5, gzip: false, lie: true });
  const { code, output } = await replay(trace);
  expect(code, output).toBe(1);
  expect(output).toMatch(/^wrong: .*ann.*: total is \d+, not \d+$/m);
});

test('what cannot be played ends with exit code 2 and says why', async () => {
  expect(await replay(path.join(folder, 'nowhere'))).toMatchObject({
    code: 2,
    output: expect.stringContaining('expected.json'),
  });
  expect(await replay(folder, '--speed', 'fast')).toMatchObject({
    code: 2,
    output: expect.stringContaining('--speed'),
  });
});
