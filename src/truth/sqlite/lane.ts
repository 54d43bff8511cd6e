/** One thing at a time, in the order of the calls: what runs here never interleaves with another run, also not across its awaits. */
export class Lane {
  #tail: Promise<unknown> = Promise.resolve();

  async run<T>(work: () => T | Promise<T>): Promise<T> {
    const done = this.#tail.then(work);
    // The next one runs whatever became of this one; its failure belongs to its caller.
    this.#tail = done.catch(() => undefined);
    return done;
  }
}
