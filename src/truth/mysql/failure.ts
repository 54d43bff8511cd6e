import { Bug, Unavailable } from '../../errors.ts';

/** When a caller may try again. */
export const RETRY_MS = 1_000;

/**
 * `contended`: others were in the way and nothing of the transaction stands; the same again works.
 * `away`: no connection, or one that died; nothing stands either, unless it was the commit that got no answer.
 */
export type Failure = 'contended' | 'away' | 'refused';

/** Deadlock, lock wait, snapshot too old, NOWAIT, statement to be prepared anew. */
const CONTENDED = new Set([1213, 1205, 1020, 3572, 1615]);
/**
 * Too many connections (1040, 1203, 1226), shutting down (1053), killed (1317, 1927), network (1152-1161, 1184), closed as idle (4031),
 * read-only after a failover (1290, 1792, 1836), no room (3, 1021, 1041, 1114), no cluster (1047).
 */
const AWAY = new Set([
  3, 1021, 1040, 1041, 1047, 1053, 1114, 1152, 1153, 1154, 1155, 1156, 1157, 1158, 1159, 1160, 1161, 1184, 1203, 1226,
  1290, 1317, 1792, 1836, 1927, 4031,
]);
/** The connection still answers, but not as one that may write: the next one may lead to another server. */
const WORN_OUT = new Set([1053, 1290, 1792, 1836, 1927]);
const NETWORK =
  /^(PROTOCOL_|POOL_|ECONN|EPIPE$|ETIMEDOUT$|EHOSTUNREACH$|ENETUNREACH$|EHOSTDOWN$|ENETDOWN$|ENOTFOUND$|EAI_AGAIN$|ERR_STREAM)/;

export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return 'refused';
  const { errno, code, fatal } = error as { errno?: unknown; code?: unknown; fatal?: unknown };
  if (typeof errno === 'number' && CONTENDED.has(errno)) return 'contended';
  if (typeof errno === 'number' && AWAY.has(errno)) return 'away';
  if (fatal === true || (typeof code === 'string' && NETWORK.test(code))) return 'away';
  return 'refused';
}

/** Whether the connection that said so should not be used again. */
export function isWornOut(error: unknown): boolean {
  const { errno, fatal } = (error ?? {}) as { errno?: number; fatal?: boolean };
  const isFromServer = errno !== undefined && errno > 0;
  return fatal === true || (isFromServer ? WORN_OUT.has(errno) : failureOf(error) === 'away');
}

export function isTooManyStatements(error: unknown): boolean {
  return (error as { errno?: unknown } | null)?.errno === 1461;
}

/** What a caller of truth is told. */
export function translated(error: unknown): unknown {
  if (error instanceof Unavailable || error instanceof Bug || !isOfDriver(error)) return error;
  switch (failureOf(error)) {
    case 'refused':
      return new Bug(`truth refused a statement: ${error.message}`, { cause: error });
    case 'contended':
      return new Unavailable('too many want the same rows of truth', RETRY_MS, 'unavailable', { cause: error });
    case 'away':
      return new Unavailable(`truth is away: ${error.message}`, RETRY_MS, 'unavailable', { cause: error });
  }
}

function isOfDriver(error: unknown): error is Error {
  return (
    error instanceof Error && 'code' in error && ('errno' in error || 'fatal' in error || failureOf(error) === 'away')
  );
}
