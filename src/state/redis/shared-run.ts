/**
 * Work that many may ask for at once, and that answers each of them with what was so after they asked: one run at a time; whoever
 * comes while one is under way shares the next with all others who do.
 */
export class SharedRun {
  readonly #run: () => Promise<void>;
  #running: Promise<void> | null = null;
  #next: Promise<void> | null = null;

  constructor(run: () => Promise<void>) {
    this.#run = run;
  }

  /** A run that begins after this call, or with it. */
  fresh(): Promise<void> {
    if (this.#next !== null) return this.#next;
    if (this.#running === null) return this.#start();
    this.#next = this.#running.then(
      () => this.#start(),
      () => this.#start(),
    );
    return this.#next;
  }

  #start(): Promise<void> {
    this.#next = null;
    const running = this.#run().finally(() => {
      if (this.#running === running) this.#running = null;
    });
    this.#running = running;
    return running;
  }
}
