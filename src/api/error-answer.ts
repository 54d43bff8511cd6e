import { type ErrorBody, type ErrorCode, type ErrorInfo, errorCodes } from '../../protocol/index.ts';
import { codeOf, Unavailable, UserFault } from '../errors.ts';

export interface ErrorAnswer {
  readonly status: number;
  readonly body: ErrorBody;
  readonly headers: Readonly<Record<string, string>>;
}

/** What would have been taken (RFC 9110 §15.5.2, §15.5.16). */
const TAKEN: Partial<Record<ErrorCode, Readonly<Record<string, string>>>> = {
  unauthorized: { 'www-authenticate': 'Bearer' },
  unsupported_encoding: { 'accept-encoding': 'identity' },
};

/**
 * Anything thrown as `{error: {code, message, field?, retry_ms?}}` with the status of its code. What is nobody's fault but ours
 * gets no details: they are in the log.
 */
export function errorAnswer(error: unknown): ErrorAnswer {
  const code = codeOf(error);
  const { http }: ErrorInfo = errorCodes[code];
  if (error instanceof UserFault) {
    const { message, field } = error;
    return {
      status: http ?? 400,
      body: { error: field === undefined ? { code, message } : { code, message, field } },
      headers: TAKEN[code] ?? {},
    };
  }
  if (error instanceof Unavailable) {
    const { message, retryMs } = error;
    // Whole seconds, and never 0: that would be an invitation to come back at once.
    const headers = { 'retry-after': String(Math.max(1, Math.ceil(retryMs / 1000))) };
    return { status: http ?? 503, body: { error: { code, message, retry_ms: retryMs } }, headers };
  }
  return { status: 500, body: { error: { code, message: 'a fault of the server; it has been logged' } }, headers: {} };
}
