/** How many streams this node may hold, so that all nodes that read hold about as many. */
export class Places {
  readonly #partitions: number;
  #nodes = 1;
  #taken = 0;

  constructor(partitions: number) {
    this.#partitions = partitions;
  }

  /** Nodes that read, this one included. */
  set nodes(count: number) {
    this.#nodes = Math.max(1, count);
  }

  get isAboveShare(): boolean {
    return this.#taken > this.#share;
  }

  take(): boolean {
    if (this.#taken >= this.#share) return false;
    this.#taken++;
    return true;
  }

  free(): void {
    this.#taken--;
  }

  get #share(): number {
    return Math.ceil(this.#partitions / this.#nodes);
  }
}
