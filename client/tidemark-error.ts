/** A call that cannot be carried out: `code` for programs, `field` names the argument. Nothing has been changed. */
export class TidemarkError extends Error {
  override readonly name = 'TidemarkError';
  readonly code:
    | 'invalid_argument'
    | 'not_synced'
    | 'queue_full'
    | 'stopped'
    | 'token'
    | 'socket'
    | 'store'
    | 'protocol';
  readonly field: string | undefined;

  constructor(code: TidemarkError['code'], message: string, options: { field?: string; cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
    this.field = options.field;
  }
}
