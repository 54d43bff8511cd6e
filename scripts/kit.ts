import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

/**
 * The conformance kit against the running product.
 *
 *   npm run kit                                   all scenarios, then 300 seeds of 150 operations
 *   npm run kit -- scenarios --grep B08 --jobs 1  options and files go to the kit's run.mjs
 *   npm run kit -- fuzz --seeds 7..7 --verbose    options go to the kit's fuzz.mjs
 */
const ROOT = resolve(import.meta.dirname, '..');
const PARTS = ['scenarios', 'fuzz'] as const;
type Part = (typeof PARTS)[number];

/** The kit's folder, or the reason why there is none. It is not part of this repository. */
export function findKit(env = process.env): { dir: string } | { reason: string } {
  const dir = resolve(ROOT, env['TIDEMARK_KIT_DIR'] ?? '../shared/kit');
  if (existsSync(join(dir, 'run.mjs')) && existsSync(join(dir, 'fuzz.mjs'))) return { dir };
  return { reason: 'the conformance kit is not in ../shared/kit, and TIDEMARK_KIT_DIR does not name its folder' };
}

/** Runs one part of the kit, its output passed on; resolves to the exit code. */
async function runPart(kit: string, part: Part, options: string[]): Promise<number> {
  const tool = part === 'scenarios' ? 'run.mjs' : 'fuzz.mjs';
  const given = options.length === 0 && part === 'fuzz' ? ['--seeds', '1..300', '--ops', '150'] : options;
  const target = given.includes('--url') ? [] : ['--start', 'node src/main.ts'];
  const child = spawn(process.execPath, [join(kit, tool), ...target, '--cwd', ROOT, ...given], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, PATH: `${join(ROOT, 'node_modules/.bin')}${delimiter}${process.env['PATH'] ?? ''}` },
  });
  // The kit ends the server that it started, if it is told to stop.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => child.kill(signal));
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('exit', (code) => done(code ?? 1));
  });
}

async function main(args: string[]): Promise<number> {
  const kit = findKit();
  if ('reason' in kit) {
    console.error(kit.reason);
    return 2;
  }
  const part = PARTS.find((name) => name === args[0]);
  if (part !== undefined) return runPart(kit.dir, part, args.slice(1));
  if (args.length > 0) {
    console.error(
      `say which part the options are for: npm run kit -- ${PARTS.join(' | ')} [options] (each has --help)`,
    );
    return 2;
  }
  const codes: number[] = [];
  for (const each of PARTS) codes.push(await runPart(kit.dir, each, []));
  return Math.max(...codes);
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
