/** Ids only: an entry stays in its stream, and is read again when it is due. */
const WAITING_MAX = 1000;
const DUE_MAX = 100;

/** Entries that were refused and are to be delivered again. Beyond a number of them those that are due first are due at once. */
export class WaitingRefusals {
  readonly #retryMs: number;
  readonly #dueMs = new Map<string, number>();

  constructor(retryMs: number) {
    this.#retryMs = retryMs;
  }

  add(id: string, refusals: number, nowMs: number): void {
    // Behind all others, so that those which have waited longest come first.
    this.#dueMs.delete(id);
    this.#dueMs.set(id, nowMs + this.#retryMs * 2 ** (refusals - 1));
  }

  forget(ids: readonly string[]): void {
    for (const id of ids) this.#dueMs.delete(id);
  }

  due(nowMs: number): string[] {
    let above = this.#dueMs.size - WAITING_MAX;
    const due: string[] = [];
    for (const [id, dueMs] of this.#dueMs) {
      if (due.length === DUE_MAX) break;
      if (dueMs > nowMs && above-- <= 0) continue;
      due.push(id);
    }
    return due;
  }
}
