import { expect, onTestFinished, test } from 'vitest';
import { freshDatabase } from '../support/mysql-database.ts';
import { startApp } from '../support/running-app.ts';
import { sharedMariadb } from '../support/shared-mariadb.ts';

test('[SY10] a second node on a database whose users’ state lies in the memory of the first is refused, until that has ended', async () => {
  const database = await freshDatabase(await sharedMariadb());
  onTestFinished(() => database.drop());
  const settings = { TIDEMARK_MYSQL_URL: database.url };
  const message = (id: string) => ({
    type: 'message.created',
    conv: 'c',
    message_id: id,
    sender: 'ann',
    members: ['ann', 'bob'],
  });

  const first = await startApp(settings);
  try {
    await first.post(message('m1'));
    await expect(startApp(settings)).rejects.toThrow(/another node uses this database.*TIDEMARK_REDIS_URL/);
    await first.post(message('m2'));
  } finally {
    await first.stop();
  }

  const next = await startApp(settings);
  try {
    const { body } = await next.call('GET', '/v1/users/bob/unread');
    expect(body).toMatchObject({ total: 2 });
  } finally {
    await next.stop();
  }
});
