import type { ErrorCode } from '../protocol/index.ts';

/**
 * Three kinds of failure, told apart by who has to do something: the caller changed nothing and has to send something else
 * (UserFault), nobody did anything wrong and the same call may work later (Unavailable), or the product is wrong (Bug).
 * Anything else that is thrown counts as a Bug.
 */
interface Cause {
  readonly cause?: unknown;
}

/** The caller's fault: the code goes to the caller, together with the field it is about. */
export class UserFault extends Error {
  override readonly name = 'UserFault';
  readonly code: ErrorCode;
  readonly field: string | undefined;

  constructor(code: ErrorCode, message: string, field?: string, cause?: Cause) {
    super(message, cause);
    this.code = code;
    this.field = field;
  }
}

/** Something the product depends on is away, or it has more to do than it takes on. The same call may work after `retryMs`. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
  readonly code: ErrorCode;
  readonly retryMs: number;

  constructor(message: string, retryMs: number, code: 'unavailable' | 'rate_limited' = 'unavailable', cause?: Cause) {
    super(message, cause);
    this.code = code;
    this.retryMs = retryMs;
  }
}

/** An assertion of the product about itself does not hold. The caller gets `internal` and no details. */
export class Bug extends Error {
  override readonly name = 'Bug';
}

/** What a caller may be told about anything thrown. */
export function codeOf(error: unknown): ErrorCode {
  return error instanceof UserFault || error instanceof Unavailable ? error.code : 'internal';
}
