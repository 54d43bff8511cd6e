/** What a figure depends on and a reader has to know; nothing that names the machine. */
import { execFileSync } from 'node:child_process';
import os from 'node:os';

export interface Circumstances {
  /** Of this repository; null where there is none. */
  readonly commit: string | null;
  /** Files differ from that commit. */
  readonly isChanged: boolean;
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly memoryGib: number;
    readonly system: string;
    readonly node: string;
  };
}

const BYTES_PER_GIB = 2 ** 30;

export function circumstances(): Circumstances {
  const cpus = os.cpus();
  return {
    commit: git('rev-parse', 'HEAD'),
    isChanged: (git('status', '--porcelain') ?? '') !== '',
    machine: {
      cpu: cpus[0]?.model ?? 'unknown',
      cores: cpus.length,
      memoryGib: Math.round(os.totalmem() / BYTES_PER_GIB),
      system: `${os.type()} ${os.release()}`,
      node: process.version,
    },
  };
}

function git(...args: string[]): string | null {
  try {
    return execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    // A copy without its history, or a machine without git.
    return null;
  }
}
