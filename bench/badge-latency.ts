/** The load tool's hot group of 100 with 200 messages a second: 20,000 badges a second. Played once for all lines that ask. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

export interface BadgeLatency {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly updatesASecond: number;
}

interface Report {
  readonly figures: Record<string, number>;
  readonly times: Record<string, { p50: number; p95: number; p99: number }>;
}

const TOOL = path.join(import.meta.dirname, '../loadtest/main.ts');
const SCALE = ['--connections', '100', '--rate', '200', '--seconds', '20'];

let played: Promise<BadgeLatency> | null = null;

export function badgeLatency(): Promise<BadgeLatency> {
  return (played ??= play());
}

async function play(): Promise<BadgeLatency> {
  const folder = mkdtempSync(path.join(tmpdir(), 'tidemark-bench-'));
  try {
    const file = path.join(folder, 'report.json');
    await promisify(execFile)(process.execPath, [TOOL, 'hot-group', ...SCALE, '--json', file]);
    const { figures, times } = JSON.parse(readFileSync(file, 'utf8')) as Report;
    const shown = Object.entries(times).find(([name]) => name.startsWith('message → badge'))?.[1];
    if (shown === undefined) throw new Error('the load tool measured no badges');
    return { ...shown, updatesASecond: figures['badge updates a second'] ?? 0 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
