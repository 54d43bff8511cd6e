import { createConnection } from 'mysql2/promise';

interface Column {
  readonly name: string;
  readonly type: string;
  readonly nullable: 'YES' | 'NO';
  readonly extra: string;
}

interface Key {
  readonly name: string;
  readonly unique: number;
  readonly columns: string;
}

const TABLES = `
  SELECT table_name AS name, engine AS engine, table_collation AS collation
  FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY BINARY table_name`;
const COLUMNS = `
  SELECT column_name AS name, column_type AS type, is_nullable AS nullable, extra AS extra
  FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ? ORDER BY ordinal_position`;
const KEYS = `
  SELECT index_name AS name, MIN(1 - non_unique) AS \`unique\`, GROUP_CONCAT(column_name ORDER BY seq_in_index SEPARATOR ', ') AS columns
  FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = ?
  GROUP BY index_name ORDER BY index_name <> 'PRIMARY', BINARY index_name`;

/** The tables of a database as CREATE statements, in which what MySQL and MariaDB only write differently is the same. */
export async function dumpSchema(url: string): Promise<string> {
  const connection = await createConnection(url);
  const ask = async <Row>(sql: string, ...values: string[]): Promise<Row[]> =>
    (await connection.query(sql, values))[0] as Row[];
  const tables: string[] = [];
  for (const { name, engine, collation } of await ask<Record<'name' | 'engine' | 'collation', string>>(TABLES)) {
    const columns = (await ask<Column>(COLUMNS, name)).map(columnLine);
    const keys = (await ask<Key>(KEYS, name)).map(keyLine);
    tables.push(
      `CREATE TABLE ${name} (\n${[...columns, ...keys].join(',\n')}\n) ENGINE = ${engine} COLLATE = ${collation};\n`,
    );
  }
  await connection.end();
  return tables.join('\n');
}

function columnLine({ name, type, nullable, extra }: Column): string {
  // MariaDB still gives integers a display width.
  const plain = type.replace(/^((?:tiny|small|medium|big)?int)\(\d+\)/, '$1').toUpperCase();
  return `  ${name} ${plain}${nullable === 'NO' ? ' NOT' : ''} NULL${extra === '' ? '' : ` ${extra.toUpperCase()}`}`;
}

function keyLine({ name, unique, columns }: Key): string {
  if (name === 'PRIMARY') return `  PRIMARY KEY (${columns})`;
  return `  ${Number(unique) === 1 ? 'UNIQUE ' : ''}KEY ${name} (${columns})`;
}
