import { describe, test } from 'vitest';
import { realMysql } from './real-mysql.ts';
import { sharedMariadb } from './shared-mariadb.ts';

/** Defines the tests on MariaDB, and on a real MySQL where there is one; where there is none the run says why. */
export async function onEachServer(define: (serverUrl: string, product: 'MariaDB' | 'MySQL') => void): Promise<void> {
  const mariadb = await sharedMariadb();
  describe('on MariaDB', () => {
    define(mariadb, 'MariaDB');
  });
  const mysql = await realMysql();
  if ('reason' in mysql) {
    test('on MySQL', (context) => context.skip(mysql.reason));
    return;
  }
  describe('on MySQL', () => {
    define(mysql.url, 'MySQL');
  });
}
