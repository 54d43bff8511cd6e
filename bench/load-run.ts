/** A run of the load tool against a server of its own; each is done once for all lines that ask. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

export interface LoadRun {
  readonly figures: Readonly<Record<string, number>>;
  readonly times: Readonly<
    Record<string, { readonly p50: number; readonly p95: number; readonly p99: number; readonly max: number }>
  >;
}

/** A file system in memory: how long a disk takes to be sure of a write is not ours to measure. */
const MEMORY = '/dev/shm';
const TOOL = path.join(import.meta.dirname, '../loadtest/main.ts');
const runs = new Map<string, Promise<LoadRun>>();

/** 20,000 badges a second: 200 messages a second to a group of 100. */
export function badgeRun(): Promise<LoadRun> {
  return once('hot-group', '--connections', '100', '--rate', '200', '--seconds', '20');
}

export function overloadRun(connections: number, rate: number): Promise<LoadRun> {
  return once('hot-group', '--connections', String(connections), '--rate', String(rate), '--seconds', '20');
}

/** The lines of 10,000 devices break in one moment while messages go on. */
export function cutRun(): Promise<LoadRun> {
  return once('reconnect-storm', '--connections', '10000', '--rate', '50', '--seconds', '40');
}

function once(...args: string[]): Promise<LoadRun> {
  const key = args.join(' ');
  const run = runs.get(key) ?? play(args);
  runs.set(key, run);
  return run;
}

async function play(args: readonly string[]): Promise<LoadRun> {
  const folder = mkdtempSync(path.join(tmpdir(), 'tidemark-bench-'));
  try {
    const file = path.join(folder, 'report.json');
    const env = { ...process.env, ...(existsSync(MEMORY) ? { TMPDIR: MEMORY } : {}) };
    await promisify(execFile)(process.execPath, [TOOL, ...args, '--json', file], { env });
    return JSON.parse(readFileSync(file, 'utf8')) as LoadRun;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
