/**
 * Brings the write-ahead log to the disk without holding up the event loop: a synchronous COMMIT does nothing else for as long as the
 * disk takes. `flush` makes everything durable that was written before it began.
 */
export class LogSync {
  readonly #flush: () => Promise<void>;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;

  constructor(flush: () => Promise<void>) {
    this.#flush = flush;
  }

  /**
   * Resolves when everything written before the call is on the disk. Calls during one flush share the next. Once a flush has failed
   * nobody knows what the disk holds, and another one would not tell: all later calls fail too, until the file is opened again.
   */
  async flushed(): Promise<void> {
    this.#next ??= this.#running.then(async () => {
      this.#next = null;
      this.#running = this.#flush();
      return this.#running;
    });
    return this.#next;
  }
}
