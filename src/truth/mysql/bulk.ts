import type { Values } from '../records.ts';
import type { Changed, Session } from './session.ts';

/** Rows of one statement. More would not be faster, and an IN list of 1,000 is turned into a subquery by MariaDB. */
const ROWS_MAX = 256;
/** Lengths of lists. Each makes a text of its own that the server has to prepare and to keep, for each connection. */
const LENGTHS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256];

/** One statement for many rows: a list is filled up by its last row, where a row twice does no harm, or split. */
export class Bulk {
  readonly #row: string;
  readonly #text: (rows: string) => string;
  readonly #rowsMax: number;
  readonly #separator: string;
  readonly #inserts: boolean;
  readonly #texts = new Map<number, string>();

  /** `row`: what stands for one row in the list that `text` gets. */
  constructor(
    row: string,
    text: (rows: string) => string,
    { rowsMax = ROWS_MAX, separator = ', ', inserts = false } = {},
  ) {
    this.#row = row;
    this.#text = text;
    this.#rowsMax = rowsMax;
    this.#separator = separator;
    this.#inserts = inserts;
  }

  /** Answers all that the statements answer, one after the other. */
  async all(session: Session, rows: readonly Values[]): Promise<Values[]> {
    const answers: Values[][] = [];
    for (const part of filledUp(rows, this.#rowsMax))
      answers.push(await session.all(this.#of(part.length), part.flat()));
    return answers.length === 1 ? (answers[0] as Values[]) : answers.flat();
  }

  async run(session: Session, rows: readonly Values[]): Promise<void> {
    for (const part of filledUp(rows, this.#rowsMax)) await this.#run(session, part);
  }

  /** Each row exactly once: for what must not meet a row of its own. Answers for each part how many rows it had, and what became of them. */
  async runOnce(session: Session, rows: readonly Values[]): Promise<(Changed & { readonly given: number })[]> {
    const answers: (Changed & { given: number })[] = [];
    for (const part of split(rows, this.#rowsMax)) {
      answers.push({ ...(await this.#run(session, part)), given: part.length });
    }
    return answers;
  }

  async #run(session: Session, part: readonly Values[]): Promise<Changed> {
    const sql = this.#of(part.length);
    return this.#inserts ? session.insert(sql, part.flat()) : session.run(sql, part.flat());
  }

  #of(count: number): string {
    let text = this.#texts.get(count);
    if (text === undefined) {
      text = this.#text(Array.from({ length: count }, () => this.#row).join(this.#separator));
      this.#texts.set(count, text);
    }
    return text;
  }
}

function placeholders(width: number): string {
  return `(${Array.from({ length: width }, () => '?').join(', ')})`;
}

export function insert(table: string, columns: readonly string[], values = placeholders(columns.length)): Bulk {
  return new Bulk(values, (rows) => `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${rows}`, { inserts: true });
}

/** Insert or replace by key; the first `keyLength` columns are the key. `VALUES(column)` is understood by MySQL and MariaDB alike. */
export function upsert(table: string, keyLength: number, columns: readonly string[], rowsMax = ROWS_MAX): Bulk {
  const changes = columns.slice(keyLength).map((column) => `${column} = VALUES(${column})`);
  const text = `INSERT INTO ${table} (${columns.join(', ')}) VALUES`;
  return new Bulk(
    placeholders(columns.length),
    (rows) => `${text} ${rows} ON DUPLICATE KEY UPDATE ${changes.join(', ')}`,
    { inserts: true, rowsMax },
  );
}

/**
 * Deletes the rows that equal those given in `columns`, by way of `index` and no other: a plain DELETE or UPDATE may walk over a table
 * that it takes for small, and waits for each row there that somebody else has locked.
 */
export function remove(table: string, index: string, columns: readonly string[], condition = ''): Bulk {
  const join = `STRAIGHT_JOIN ${table} t FORCE INDEX (${index}) ON ${equal(columns)} ${condition}`.trimEnd();
  return new Bulk(selected(columns), (rows) => `DELETE t FROM (${rows}) k ${join}`, UNION);
}

/** Sets the other columns of the rows whose key, the first `keyLength` columns, is given. */
export function update(table: string, keyLength: number, columns: readonly string[]): Bulk {
  const join = `STRAIGHT_JOIN ${table} t FORCE INDEX (PRIMARY) ON ${equal(columns.slice(0, keyLength))}`;
  const changes = columns.slice(keyLength).map((column) => `t.${column} = k.${column}`);
  return new Bulk(selected(columns), (rows) => `UPDATE (${rows}) k ${join} SET ${changes.join(', ')}`, UNION);
}

const UNION = { separator: ' UNION ALL ', rowsMax: 64 };

function selected(columns: readonly string[]): string {
  return `SELECT ${columns.map((column) => `? AS ${column}`).join(', ')}`;
}

function equal(columns: readonly string[]): string {
  return columns.map((column) => `t.${column} = k.${column}`).join(' AND ');
}

function* filledUp(rows: readonly Values[], max: number): Generator<Values[]> {
  for (let start = 0; start < rows.length; start += max) {
    const part = rows.slice(start, start + max);
    const length = LENGTHS.find((one) => one >= part.length) ?? part.length;
    const last = part.at(-1) as Values;
    while (part.length < length) part.push(last);
    yield part;
  }
}

function* split(rows: readonly Values[], max: number): Generator<Values[]> {
  for (let start = 0; start < rows.length;) {
    const left = Math.min(max, rows.length - start);
    const length = LENGTHS.findLast((one) => one <= left) ?? left;
    yield rows.slice(start, (start += length));
  }
}
