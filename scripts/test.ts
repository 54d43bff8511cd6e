import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import type { Tally } from './tally-reporter.ts';
import { findKit } from './kit.ts';

/**
 * `npm test`: every check there is, cheapest first, and one line at the end that adds all of them up. A failing step
 * does not stop the later ones.
 */
interface Step {
  name: string;
  command: string[];
  env?: Record<string, string>;
  /** How many things passed and failed, from the exit code and the output; the default is one thing, by exit code. */
  read?: (code: number, output: string) => Outcome;
}

interface Outcome {
  passed: number;
  failed: number;
  skipped: string[];
}

const ROOT = resolve(import.meta.dirname, '..');
// A bound on a hang, far above what any step takes.
const STEP_TIMEOUT_MS = 30 * 60_000;
const BIN = join(ROOT, 'node_modules/.bin');
const kit = findKit();
const scratch = mkdtempSync(join(tmpdir(), 'tidemark-test-'));
const tallyFile = join(scratch, 'tally.json');
const env = {
  // Settings of whoever runs this are not those of the servers under test.
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('TIDEMARK_'))),
  PATH: `${BIN}${delimiter}${process.env['PATH'] ?? ''}`,
  // The steps write into a pipe and cannot see whether somebody is watching.
  ...(process.stdout.isTTY ? { FORCE_COLOR: '1' } : { NO_COLOR: '1' }),
  TEST_TALLY_FILE: tallyFile,
};

const steps: Step[] = [
  { name: 'format', command: ['oxfmt', '--check', '.'] },
  { name: 'lint', command: ['oxlint', '.'] },
  { name: 'types', command: ['tsc', '-p', '.'] },
  { name: 'dead code', command: ['knip'] },
  { name: 'programs', command: ['node', 'test/support/install.ts'], read: readNothing },
  { name: 'tests', command: ['vitest', 'run'], read: readTally },
];
if ('dir' in kit) {
  const own = { env: { TIDEMARK_KIT_DIR: kit.dir }, read: readLastLine };
  // A bound on a hang, for a machine that is slow; the kit's own is 3 s.
  const patience = ['--timeout', '10000'];
  const fuzz = ['fuzz', '--seeds', '1..20', '--ops', '150', ...patience];
  steps.push(
    { name: 'conformance scenarios', command: ['node', 'scripts/kit.ts', 'scenarios', ...patience], ...own },
    { name: 'conformance fuzz', command: ['node', 'scripts/kit.ts', ...fuzz], ...own },
  );
}

const rows: { name: string; seconds: number; outcome: Outcome }[] = [];
for (const step of steps) {
  console.log(`\n── ${step.name}: ${step.command.join(' ')}`);
  const startedAt = performance.now();
  const { code, output } = await run(step);
  const outcome = step.read?.(code, output) ?? { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: [] };
  rows.push({ name: step.name, seconds: (performance.now() - startedAt) / 1000, outcome });
}
rmSync(scratch, { recursive: true, force: true });
report();

/** Runs the command of a step with its output passed on as it comes. */
async function run(step: Step): Promise<{ code: number; output: string }> {
  const [command = '', ...args] = step.command;
  const child = spawn(command === 'node' ? process.execPath : join(BIN, command), args, {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: STEP_TIMEOUT_MS,
    env: { ...env, ...step.env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      process.stdout.write(text);
    });
  }
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', (code) => done({ code: code ?? 1, output }));
  });
}

function readTally(code: number): Outcome {
  try {
    const tally = JSON.parse(readFileSync(tallyFile, 'utf8')) as Tally;
    for (const title of tally.failed) console.log(`failed: ${title}`);
    for (const file of tally.running) console.log(`not ended: ${file}`);
    return {
      passed: tally.passed.length,
      // vitest may also fail for a reason that is no test's, a worker that crashed for one.
      failed: Math.max(tally.failed.length + tally.running.length, code === 0 ? 0 : 1),
      skipped: tally.skipped.map(({ title, reason }) => `${title}: ${reason}`),
    };
  } catch (error) {
    console.error(`no result of the tests: ${String(error)}`);
    return { passed: 0, failed: 1, skipped: [] };
  }
}

/** What is missing shows in the tests that need it. */
function readNothing(code: number): Outcome {
  return { passed: 0, failed: code === 0 ? 0 : 1, skipped: [] };
}

function readLastLine(code: number, output: string): Outcome {
  const [, passed = '0', failed = '0'] = [...output.matchAll(/^(\d+) passed, (\d+) failed\b/gm)].at(-1) ?? [];
  return { passed: Number(passed), failed: Math.max(Number(failed), code === 0 ? 0 : 1), skipped: [] };
}

function report(): void {
  const sum = { passed: 0, failed: 0 };
  console.log('\n── summary');
  for (const { name, seconds, outcome } of rows) {
    sum.passed += outcome.passed;
    sum.failed += outcome.failed;
    const skipped = outcome.skipped.length > 0 ? `, ${outcome.skipped.length} skipped` : '';
    console.log(
      `${name.padEnd(24)}${outcome.passed} passed, ${outcome.failed} failed${skipped} (${seconds.toFixed(0)} s)`,
    );
  }
  for (const line of rows.flatMap(({ outcome }) => outcome.skipped)) console.log(`skipped: ${line}`);
  if ('reason' in kit) console.log(`skipped: conformance scenarios and fuzz: ${kit.reason}`);
  console.log(`${sum.passed} passed, ${sum.failed} failed`);
  process.exitCode = sum.failed === 0 && sum.passed > 0 ? 0 : 1;
}
