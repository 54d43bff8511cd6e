import type { Value, Values } from '../records.ts';
import type { Session } from './session.ts';

/** Rows of one statement. More would not be faster, and an IN list of 1,000 is turned into a subquery by MariaDB. */
const ROWS_MAX = 256;

/**
 * One statement for many rows. Each length is a text of its own that the server has to prepare, so only powers of two are used: a list
 * is either filled up by its last row, where a row twice does no harm, or split.
 */
export class Bulk {
  readonly #row: string;
  readonly #text: (rows: string) => string;
  readonly #rowsMax: number;
  readonly #texts = new Map<number, string>();

  /** `row`: what stands for one row among those that `text` gets, separated by commas. */
  constructor(row: string, text: (rows: string) => string, rowsMax = ROWS_MAX) {
    this.#row = row;
    this.#text = text;
    this.#rowsMax = rowsMax;
  }

  /** Answers all that the statements answer, one after the other. */
  async all(session: Session, rows: readonly Values[]): Promise<Values[]> {
    const answers: Values[][] = [];
    for (const part of filledUp(rows, this.#rowsMax))
      answers.push(await session.all(this.#of(part.length), part.flat()));
    return answers.length === 1 ? (answers[0] as Values[]) : answers.flat();
  }

  /** Answers how many rows were found or inserted, those of the filling not counted where a row is found once. */
  async run(session: Session, rows: readonly Values[]): Promise<number> {
    let found = 0;
    for (const part of filledUp(rows, this.#rowsMax))
      found += (await session.run(this.#of(part.length), part.flat())).rows;
    return found;
  }

  /** Each row exactly once: for INSERTs that must not meet a row of their own. Answers the first id of each part. */
  async runOnce(session: Session, rows: readonly Values[]): Promise<{ firstId: number; rows: number }[]> {
    const answers: { firstId: number; rows: number }[] = [];
    for (const part of split(rows, this.#rowsMax)) {
      const { firstId } = await session.run(this.#of(part.length), part.flat());
      answers.push({ firstId, rows: part.length });
    }
    return answers;
  }

  #of(count: number): string {
    let text = this.#texts.get(count);
    if (text === undefined) {
      text = this.#text(Array.from({ length: count }, () => this.#row).join(', '));
      this.#texts.set(count, text);
    }
    return text;
  }
}

export function placeholders(width: number): string {
  return `(${Array.from({ length: width }, () => '?').join(', ')})`;
}

export function insert(table: string, columns: readonly string[], values = placeholders(columns.length)): Bulk {
  return new Bulk(values, (rows) => `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${rows}`);
}

/** Insert or replace by key; the first `keyLength` columns are the key. `VALUES(column)` is understood by MySQL and MariaDB alike. */
export function upsert(table: string, keyLength: number, columns: readonly string[]): Bulk {
  const changes = columns.slice(keyLength).map((column) => `${column} = VALUES(${column})`);
  const text = `INSERT INTO ${table} (${columns.join(', ')}) VALUES`;
  return new Bulk(
    placeholders(columns.length),
    (rows) => `${text} ${rows} ON DUPLICATE KEY UPDATE ${changes.join(', ')}`,
  );
}

function* filledUp(rows: readonly Values[], max: number): Generator<Values[]> {
  for (let start = 0; start < rows.length; start += max) {
    const part = rows.slice(start, start + max);
    const last = part.at(-1) as Value[];
    const length = Math.min(max, 2 ** Math.ceil(Math.log2(part.length)));
    while (part.length < length) part.push(last);
    yield part;
  }
}

function* split(rows: readonly Values[], max: number): Generator<Values[]> {
  for (let start = 0; start < rows.length;) {
    const length = Math.min(max, 2 ** Math.floor(Math.log2(rows.length - start)));
    yield rows.slice(start, (start += length));
  }
}
