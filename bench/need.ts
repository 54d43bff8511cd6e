/** What a line needs of the machine: why it cannot be had here, or null. Asked before anything of the line is started. */
import { execFileSync } from 'node:child_process';
import { programPath } from '../loadtest/program-path.ts';

export type Need = () => string | null;

export const MARIADB: Need = program('mariadbd', 'mariadb-server');
export const REDIS: Need = program('redis-server', 'redis-server');

/** /proc: what processes spend, and what the kernel counts. */
export const LINUX: Need = () => (process.platform === 'linux' ? null : 'only Linux tells what is counted');

/** Of one process. */
export function openFiles(count: number): Need {
  return () => {
    // Node raises its own limit to the hard one.
    const said = execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim();
    if (said === 'unlimited' || Number(said) >= count) return null;
    return `${count} open files are needed, and a process may have ${said} (ulimit -Hn)`;
  };
}

function program(command: string, debianPackage: string): Need {
  return () => {
    if (programPath(command) !== null) return null;
    return `${command} is not on the PATH (on Debian: apt-get install ${debianPackage})`;
  };
}
