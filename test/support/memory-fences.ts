import type { Fence, FenceStore } from '../../src/ports.ts';

/** The fences of an installation without its truth; any number of nodes may share one. */
export class MemoryFences implements FenceStore {
  readonly #fences = new Map<number, Fence>();
  #meeting: { left: number; readonly all: PromiseWithResolvers<void> } | null = null;
  /** Raises that were refused, since another was first. */
  refused = 0;

  /** The next raises wait until so many nodes have come to raise. */
  meet(nodes: number): void {
    this.#meeting = { left: nodes, all: Promise.withResolvers<void>() };
  }

  async read(): Promise<ReadonlyMap<number, Fence>> {
    return new Map(this.#fences);
  }

  async raise(partition: number, expected: Fence | null, next: Fence): Promise<boolean> {
    const meeting = this.#meeting;
    if (meeting) {
      if (--meeting.left === 0) {
        this.#meeting = null;
        meeting.all.resolve();
      }
      await meeting.all.promise;
    }
    const held = this.#fences.get(partition) ?? null;
    if (held?.number !== expected?.number || held?.runId !== expected?.runId || held?.replId !== expected?.replId) {
      this.refused++;
      return false;
    }
    this.#fences.set(partition, next);
    return true;
  }
}
