import { check, count, id, integer, type Schema } from '../../protocol/index.ts';
import { UserFault } from '../errors.ts';
import type { ApiContext } from './route.ts';

/** Fields that stand in the path or the query. Both come percent-decoded; a faulty escape was refused before (server.ts). */

export function pathId(c: ApiContext, name: string): string {
  return checked(id, c.req.param(name), name);
}

/** Absent when the query does not have it. */
export function queryId(c: ApiContext, name: string): string | undefined {
  return queryText(c, name, id);
}

export function queryText<T>(c: ApiContext, name: string, schema: Schema<T>): T | undefined {
  const given = c.req.query(name);
  return given === undefined ? undefined : checked(schema, given, name);
}

export function queryCount(c: ApiContext, name: string, schema: Schema<number> = count): number | undefined {
  const given = c.req.query(name);
  if (given === undefined) return undefined;
  // Number() alone would take '', ' 1', '0x1f' and '1e3' for numbers.
  return checked(schema, /^\d{1,16}$/.test(given) ? Number(given) : Number.NaN, name);
}

const rowsWanted = integer(1, Number.MAX_SAFE_INTEGER);

/** How many rows a page gets. Whoever wants more than it can have gets the most: as in `hello`, nobody has to know how many that is. */
export function queryRows(c: ApiContext, name: string, { usual, most }: { usual: number; most: number }): number {
  return Math.min(queryCount(c, name, rowsWanted) ?? usual, most);
}

export function queryFlag(c: ApiContext, name: string): boolean {
  const given = c.req.query(name) ?? 'false';
  if (given === 'true' || given === '1') return true;
  if (given === 'false' || given === '0') return false;
  throw new UserFault('invalid_field', `${name} must be true or false`, name);
}

function checked<T>(schema: Schema<T>, value: unknown, name: string): T {
  const result = check(schema, value);
  if (!result.ok) throw new UserFault('invalid_field', `${name} ${result.message}`, name);
  return result.value;
}
