/** A call that cannot be carried out: `code` for programs, `field` names the argument. Nothing has been changed. */
export class TidemarkError extends Error {
  readonly code: 'invalid_argument' | 'not_synced' | 'queue_full' | 'stopped' | 'token' | 'store' | 'protocol';
  readonly field: string | undefined;

  constructor(code: TidemarkError['code'], message: string, field?: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'TidemarkError';
    this.code = code;
    this.field = field;
  }
}
