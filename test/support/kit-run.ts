import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../..');

export interface KitOutcome {
  readonly code: number | null;
  readonly passed: number;
  readonly failed: number;
  /** From the first failure on. */
  readonly failures: string;
}

/** One tool of the conformance kit in `kitDir` against the product, started by the tool with these settings. */
export async function runKit(
  kitDir: string,
  tool: 'run.mjs' | 'fuzz.mjs',
  settings: Readonly<Record<string, string>>,
  options: readonly string[],
): Promise<KitOutcome> {
  const env = Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join(';');
  const args = [path.join(kitDir, tool), '--start', 'node src/main.ts', '--cwd', ROOT, '--env', env, ...options];
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: {
      ...process.env,
      PATH: `${path.join(ROOT, 'node_modules/.bin')}${path.delimiter}${process.env['PATH'] ?? ''}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (text) => (output += String(text)));
  child.stderr.on('data', (text) => (output += String(text)));
  const [code] = (await once(child, 'close')) as [number | null];
  const [, passed = '0', failed = '0'] = /^(\d+) passed, (\d+) failed/m.exec(output) ?? [];
  const failures = /^(FAIL|Error)/m.exec(output);
  return {
    code,
    passed: Number(passed),
    failed: Number(failed),
    failures: failures ? output.slice(failures.index, failures.index + 4000) : '',
  };
}
