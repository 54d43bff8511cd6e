import { type Connection, createConnection, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise';

/**
 * How unread counts are commonly kept: a counter a member that each message raises, or a watermark over the ids that the table gives out.
 * The experiments in seeds-*.test.ts run it beside the product on the same server.
 */
export interface NaiveChat {
  /** Another connection, with transactions of its own. */
  connect(): Promise<Connection>;
  /** Answers how many rows were changed. */
  run(sql: string, ...values: unknown[]): Promise<number>;
  /** The first column of the first row. */
  value(sql: string, ...values: unknown[]): Promise<number>;
  /** Inserts messages of `sender` and answers their ids. */
  send(conv: string, sender: string, count: number): Promise<number[]>;
  /** What the consumer of the notice of one message does for each receiver; the queue delivers at least once. */
  deliver(conv: string, user: string): Promise<void>;
  counter(conv: string, user: string): Promise<number>;
  close(): Promise<void>;
}

const TABLES = [
  `CREATE TABLE naive_messages (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, conv VARCHAR(64) NOT NULL, sender VARCHAR(64) NOT NULL, KEY (conv, id)
  ) ENGINE = InnoDB`,
  `CREATE TABLE naive_counters (
    conv VARCHAR(64) NOT NULL, user VARCHAR(64) NOT NULL, unread INT NOT NULL DEFAULT 0, PRIMARY KEY (conv, user)
  ) ENGINE = InnoDB`,
  `CREATE TABLE naive_watermarks (
    conv VARCHAR(64) NOT NULL, user VARCHAR(64) NOT NULL, last_read BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (conv, user)
  ) ENGINE = InnoDB`,
];

export async function openNaiveChat(url: string): Promise<NaiveChat> {
  const connections: Connection[] = [];
  const connect = async (): Promise<Connection> => {
    const connection = await createConnection({ uri: url, rowsAsArray: true });
    connections.push(connection);
    return connection;
  };
  const main = await connect();
  for (const table of TABLES) await main.query(table);

  const chat: NaiveChat = {
    connect,
    async run(sql, ...values) {
      const [result] = await main.query<ResultSetHeader>(sql, values);
      return result.affectedRows;
    },
    async value(sql, ...values) {
      const [rows] = await main.query<RowDataPacket[][]>(sql, values);
      return Number(rows[0]?.[0]);
    },
    async send(conv, sender, count) {
      const ids: number[] = [];
      for (let n = 0; n < count; n++) {
        const sql = 'INSERT INTO naive_messages (conv, sender) VALUES (?, ?)';
        const [{ insertId }] = await main.query<ResultSetHeader>(sql, [conv, sender]);
        ids.push(insertId);
      }
      return ids;
    },
    async deliver(conv, user) {
      await chat.run(
        'INSERT INTO naive_counters (conv, user, unread) VALUES (?, ?, 1) ON DUPLICATE KEY UPDATE unread = unread + 1',
        conv,
        user,
      );
    },
    counter: (conv, user) => chat.value('SELECT unread FROM naive_counters WHERE conv = ? AND user = ?', conv, user),
    async close() {
      for (const connection of connections) await connection.end();
    },
  };
  return chat;
}
