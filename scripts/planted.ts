import { execFile } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import type { PlantedFault } from './planted-fault.ts';
import { PLANTED_FAULTS } from './planted-faults.ts';
import type { Tally } from './tally-reporter.ts';

/**
 * Do the tests see faults? Each planted fault is put into a copy of the tree, alone, and a test whose title bears the
 * broken rule has to fail there.
 *
 *   npm run planted            all
 *   npm run planted -- AK1 SY  those whose rule begins so
 *   npm run planted -- guard   the guards of DESIGN against interleavings, each taken out: those whose name begins so
 */
const ROOT = resolve(import.meta.dirname, '..');
const LEFT_OUT = new Set(['node_modules', '.git', 'dist', 'coverage', 'data']);
const TESTS = 'test/{unit,property,contract,integration}/**/*.test.ts';
// The embedded stores run the same rules and the same suites; starting servers only takes time where a fault does not name them.
const NEEDS_A_SERVER = /mysql|mariadb|redis|lua/;
// A fault may make a test loop for ever.
const RUN_TIMEOUT_MS = 3 * 60_000;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
/** Each in a copy of its own: most of a run is the start of it, which takes one core. */
const RUNS_AT_ONCE = 2;

const folder = mkdtempSync(join(tmpdir(), 'tidemark-planted-'));
try {
  process.exitCode = await main(process.argv.slice(2));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function main(wanted: string[]): Promise<number> {
  const faults = PLANTED_FAULTS.filter(
    ({ rule, name }) => wanted.length === 0 || wanted.some((start) => rule.startsWith(start) || name.startsWith(start)),
  );
  const copies = Array.from({ length: RUNS_AT_ONCE }, (_, n) => copyTo(join(folder, String(n))));
  const [first = ''] = copies;
  const before = await runTests(first, faults);
  if (before.failed.length > 0 || before.passed.length === 0) {
    console.log(`without any fault, these tests should pass:\n${before.failed.join('\n')}`);
    console.log(`0 passed, ${Math.max(1, faults.length)} failed`);
    return 1;
  }
  const waiting = faults.values();
  let missed = 0;
  await Promise.all(
    copies.map(async (copy) => {
      // One iterator for all of them, so that each takes the next one.
      for (const fault of waiting) if (!(await isCaught(copy, fault))) missed++;
    }),
  );
  console.log(`${faults.length - missed} passed, ${missed} failed`);
  return missed === 0 && faults.length > 0 ? 0 : 1;
}

function copyTo(copy: string): string {
  cpSync(ROOT, copy, { recursive: true, filter: (path) => !LEFT_OUT.has(relative(ROOT, path)) });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

async function isCaught(copy: string, fault: PlantedFault): Promise<boolean> {
  const file = join(copy, fault.file);
  const sound = readFileSync(file, 'utf8');
  const places = sound.split(fault.find).length - 1;
  if (places !== 1) {
    console.log(`FAIL ${fault.rule} ${fault.name}: its place stands ${places} times in ${fault.file}`);
    return false;
  }
  writeFileSync(
    file,
    sound.replace(fault.find, () => fault.replace),
  );
  const { failed } = await runTests(copy, [fault]);
  writeFileSync(file, sound);

  const [first, ...others] = failed
    .filter((title) => title.includes(`[${fault.rule}]`))
    .toSorted((a, b) => rulesIn(a) - rulesIn(b));
  if (first === undefined) {
    console.log(`FAIL ${fault.rule} ${fault.name}: no test of ${fault.rule} saw it`);
    return false;
  }
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  console.log(`ok   ${fault.rule} ${fault.name}\n     seen by ${first}${more}`);
  return true;
}

/** The fewer rules a test is about, the better it tells what broke. */
function rulesIn(title: string): number {
  return title.match(/\[[A-Z]{2}\d+\]/g)?.length ?? 0;
}

/** Runs those tests of the copy that are about one of the faults. */
async function runTests(copy: string, faults: readonly PlantedFault[]): Promise<Tally> {
  const tallyFile = join(copy, 'tally.json');
  rmSync(tallyFile, { force: true });
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', ...filesAbout(copy, faults), '-t', titlesAbout(faults)];
  const output = await new Promise<string>((resolve) => {
    const env = { ...process.env, TEST_TALLY_FILE: tallyFile, TEST_SERVERS_OF: String(process.pid) };
    const options = { cwd: copy, timeout: RUN_TIMEOUT_MS, maxBuffer: OUTPUT_BYTES_MAX, env };
    // It ends with an error wherever a test fails, which is what is hoped for.
    execFile(process.execPath, args, options, (_, stdout, stderr) => resolve(stdout + stderr));
  });
  try {
    return JSON.parse(readFileSync(tallyFile, 'utf8')) as Tally;
  } catch (error) {
    throw new Error(`the tests did not run to their end:\n${output}`, { cause: error });
  }
}

function filesAbout(copy: string, faults: readonly PlantedFault[]): string[] {
  const rules = faults.flatMap(({ rule, tests }) => (tests ? [] : [rule]));
  return [...new Set([...serverlessFilesAbout(copy, rules), ...faults.flatMap(({ tests = [] }) => tests)])];
}

/** Contract tests have their titles in the suites that they run, so all of them are looked into. */
function serverlessFilesAbout(copy: string, rules: readonly string[]): string[] {
  if (rules.length === 0) return [];
  return globSync(TESTS, { cwd: copy }).filter((file) => {
    if (NEEDS_A_SERVER.test(file)) return false;
    const text = readFileSync(join(copy, file), 'utf8');
    return file.startsWith('test/contract/') || rules.some((rule) => text.includes(`[${rule}]`));
  });
}

/** As a pattern for vitest. */
function titlesAbout(faults: readonly PlantedFault[]): string {
  const titles = faults.map(({ rule, title = '' }) => `\\[${rule}\\].*${title.replaceAll(/\W/g, '.')}`);
  return [...new Set(titles)].join('|');
}
