/** A message the usual way in SQL: a transaction of its own takes the next seq of its conversation. */
import type { Connection } from 'mysql2/promise';

export const PLAIN_TABLES = [
  'CREATE TABLE plain_heads (conv VARBINARY(128) NOT NULL PRIMARY KEY, last_seq BIGINT NOT NULL) ENGINE = InnoDB',
  `CREATE TABLE plain_messages (
    conv VARBINARY(128) NOT NULL, seq BIGINT NOT NULL, message_id VARBINARY(128) NOT NULL, sender VARBINARY(128) NOT NULL,
    PRIMARY KEY (conv, seq), UNIQUE KEY (conv, message_id)
  ) ENGINE = InnoDB`,
  "INSERT INTO plain_heads VALUES ('hot', 0)",
];

export async function sendAlone(connection: Connection, messageId: string): Promise<void> {
  await connection.query('START TRANSACTION');
  await connection.execute("SELECT last_seq FROM plain_heads WHERE conv = 'hot' FOR UPDATE");
  await connection.execute("UPDATE plain_heads SET last_seq = last_seq + 1 WHERE conv = 'hot'");
  await connection.execute(
    "INSERT INTO plain_messages SELECT conv, last_seq, ?, 'ann' FROM plain_heads WHERE conv = 'hot'",
    [messageId],
  );
  await connection.query('COMMIT');
}
