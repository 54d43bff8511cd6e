import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../..');

export interface KitOutcome {
  readonly code: number | null;
  readonly passed: number;
  readonly failed: number;
  /** What failed, by id. */
  readonly failing: readonly { readonly id: string; readonly why: string }[];
  /** From the first failure on. */
  readonly failures: string;
}

/** What it is run against: the product, started by the tool with these settings, or a running one. */
export type KitTarget =
  | { readonly settings: Readonly<Record<string, string>> }
  | { readonly url: string; readonly apiKey: string; readonly tokenSecret: string };

/** One tool of the conformance kit in `kitDir`. */
export async function runKit(
  kitDir: string,
  tool: 'run.mjs' | 'fuzz.mjs',
  target: KitTarget,
  options: readonly string[],
): Promise<KitOutcome> {
  const args = [path.join(kitDir, tool), ...targetOptions(target), '--cwd', ROOT, ...options];
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
    failing: [...output.matchAll(/^FAIL (\S+) .*\n((?: {5}.*\n)*)/gm)].map(([, id = '', why = '']) => ({ id, why })),
    failures: failures ? output.slice(failures.index, failures.index + 4000) : '',
  };
}

function targetOptions(target: KitTarget): string[] {
  if ('url' in target) {
    return ['--url', target.url, '--api-key', target.apiKey, '--token-secret', target.tokenSecret];
  }
  const env = Object.entries(target.settings).map(([name, value]) => `${name}=${value}`);
  return ['--start', 'node src/main.ts', '--env', env.join(';')];
}
