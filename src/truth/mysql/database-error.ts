/** What is wrong with the database of truth. None of it goes away by trying again: an operator has to look. */
export type DatabaseFault = 'refused' | 'unsupported' | 'newer' | 'foreign';

export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  readonly fault: DatabaseFault;

  constructor(fault: DatabaseFault, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.fault = fault;
  }
}
