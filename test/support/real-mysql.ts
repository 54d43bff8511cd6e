import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { underAptLock } from './debian.ts';

const SCRIPT = '../shared/services/real-mysql.sh';
const START_TIMEOUT_MS = 12 * 60_000;
/** What the script ends with where such a server cannot be had on this machine. */
const NOT_HERE = 3;

export type RealMysql = { readonly url: string } | { readonly reason: string };

/**
 * A real MySQL server beside the MariaDB of the system: mysql://root@127.0.0.1:PORT/, or why there is none, to skip with. It is the one
 * that TEST_MYSQL_URL names, or is started by the script that TEST_REAL_MYSQL names; it goes on running for the next run.
 */
export async function realMysql(environment = process.env): Promise<RealMysql> {
  const { TEST_MYSQL_URL: given, TEST_REAL_MYSQL: named } = environment;
  if (given !== undefined && given !== '') return { url: given };
  const script = resolve(import.meta.dirname, '../..', named ?? SCRIPT);
  if (!existsSync(script)) {
    return { reason: `no real MySQL: ${SCRIPT} is not there, and neither TEST_MYSQL_URL nor TEST_REAL_MYSQL is set` };
  }
  try {
    const stdout = await underAptLock([script, 'start'], START_TIMEOUT_MS);
    return { url: stdout.trim().split('\n').at(-1) ?? '' };
  } catch (error) {
    const { code, killed = false, stderr = '' } = error as { code?: unknown; killed?: boolean; stderr?: string };
    if (killed) return { reason: `no real MySQL: ${SCRIPT} did not end within ${START_TIMEOUT_MS / 60_000} minutes` };
    if (code === NOT_HERE) return { reason: `no real MySQL: ${stderr.trim()}` };
    throw error;
  }
}
