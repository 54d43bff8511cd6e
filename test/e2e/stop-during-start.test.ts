import { createConnection } from 'mysql2/promise';
import { createHash } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { freshDatabase } from '../support/mysql-database.ts';
import { type NodeProcess, runNode } from '../support/server-process.ts';
import { sharedMariadb } from '../support/shared-mariadb.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** Whoever stops a server that is not there yet need not wait for it: nothing has been accepted. */
function start(mysqlUrl: string): NodeProcess {
  return runNode(['src/main.ts'], {
    TIDEMARK_PORT: '0',
    TIDEMARK_DATA_DIR: tempFolder(),
    TIDEMARK_MYSQL_URL: mysqlUrl,
  });
}

test('while it waits for its database', async () => {
  // Nobody listens on a port of the system's own that has never been given a service (tcpmux).
  const server = start('mysql://root@127.0.0.1:1/tidemark');
  await expect.poll(() => server.lines.at(-1)).toContain('waiting for truth');
  server.child.kill('SIGTERM');
  expect(await server.exit).toBe(143);
  expect(server.lines.at(-1)).toContain('"msg":"stopping at once"');
});

test('while another node migrates: the next start does what was left', async () => {
  const database = await freshDatabase(await sharedMariadb());
  onTestFinished(() => database.drop());
  const other = await createConnection(database.url);
  onTestFinished(() => other.destroy());
  const lock = `tidemark-migrate-${createHash('sha1').update(database.name).digest('hex')}`;
  await other.query('SELECT GET_LOCK(?, 0)', [lock]);
  const waiting = async (): Promise<unknown> => {
    const [rows] = await other.query(
      `SELECT COUNT(*) AS waiting FROM information_schema.processlist WHERE db = ? AND state = 'User lock'`,
      [database.name],
    );
    return rows;
  };

  const stopped = start(database.url);
  await expect.poll(waiting).toEqual([{ waiting: 1 }]);
  stopped.child.kill('SIGINT');
  expect(await stopped.exit).toBe(130);
  await other.query('DO RELEASE_LOCK(?)', [lock]);

  const next = start(database.url);
  await next.ready;
  next.child.kill('SIGTERM');
  expect(await next.exit).toBe(0);
});
