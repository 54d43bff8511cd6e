/** What is wrong with the file or folder of truth. None of it goes away by trying again: an operator has to look. */
export type TruthFileFault = 'locked' | 'newer' | 'foreign' | 'damaged' | 'unusable';

export class TruthFileError extends Error {
  override readonly name = 'TruthFileError';
  readonly fault: TruthFileFault;

  constructor(fault: TruthFileFault, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.fault = fault;
  }
}
