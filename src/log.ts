import {
  type DestinationStream,
  type LevelWithSilent,
  type Logger,
  pino,
  stdSerializers,
  stdTimeFunctions,
} from 'pino';
import { Unavailable, UserFault } from './errors.ts';

/**
 * One JSON object a line. Payloads are never logged, and neither are keys or tokens: fields that may hold one are redacted
 * by name, and whatever looks like a signed token is taken out of the finished line, wherever it came from.
 */
export type Log = Logger;

export type LogLevel = LevelWithSilent;

const SECRET_FIELDS = ['token', 'authorization', 'apiKey', 'tokenSecret', 'secret', 'password', 'cookie'];
const SIGNED_TOKEN = /\beyJ[\w-]{5,}\.[\w-]+\.[\w-]*/g;
const BEARER = /\bBearer\s+[^\s"\\]+/gi;

/** `destination` defaults to standard output. */
export function createLog(level: LogLevel, destination?: DestinationStream): Log {
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: shownError },
    redact: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]),
    hooks: {
      streamWrite: (line: string) => line.replaceAll(SIGNED_TOKEN, '[token]').replaceAll(BEARER, 'Bearer [key]'),
    },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** pino adds the messages of all causes to the message; here a reason that it says already is not said twice. */
function shownError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { message, cause } = error;
  const isSaid = !(cause instanceof Error) || message.includes(cause.message);
  return { ...stdSerializers.err(error), message: isSaid ? message : `${message}: ${cause.message}` };
}

/** The level is a property of the error: a caller's fault is no news, an outage is, and a bug has to wake somebody. */
export function logError(log: Log, error: unknown, message: string): void {
  if (error instanceof UserFault) log.debug({ code: error.code, field: error.field, reason: error.message }, message);
  else if (error instanceof Unavailable) log.warn({ code: error.code, retryMs: error.retryMs, err: error }, message);
  else log.error({ err: error }, message);
}
