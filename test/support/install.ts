/**
 * node test/support/install.ts
 *
 * Installs what the tests need and npm cannot bring, before they run: a test that waits for apt looks like one that hangs.
 * What cannot be had is only said here; the tests concerned fail or are skipped, with the same reason.
 */
import { ALL_PROGRAMS, need } from './debian.ts';
import { realMysql } from './real-mysql.ts';

for (const program of ALL_PROGRAMS) {
  const found = await need(program);
  process.stdout.write(`${program}: ${'path' in found ? found.path : found.reason}\n`);
}
const mysql = await realMysql();
process.stdout.write(`real MySQL: ${'url' in mysql ? mysql.url : mysql.reason}\n`);
