import { Unavailable } from '../../errors.ts';
import type { Fence, FenceStore } from '../../ports.ts';
import type { Copy, Link } from './link.ts';

/** Nodes that raise at the same time settle in one more look; more often than this in a row, two copies are fighting. */
const LOOKS_MAX = 10;
const RETRY_MS = 250;

interface Admitted {
  readonly number: number;
  readonly copy: Copy;
}

/**
 * The fences as this node knows them (ARCHITECTURE, truth and state), by units (masters.ts). A unit is served by the copy that truth names, under the number that truth
 * gave it; a copy that truth does not know takes the next number, by compare and set, and with it all keys written under an older
 * number count as missing. So the promotion of a replica that lags, or a restart from an older file, costs a rebuild and never
 * brings back a version that was already given out.
 */
export class Fences {
  readonly #store: FenceStore;
  readonly #admitted = new Map<number, Admitted>();

  constructor(store: FenceStore) {
    this.#store = store;
  }

  /** The number to call a unit with over a link; null: the copy behind it has not been compared with truth. */
  numberFor(unit: number, link: Link): number | null {
    const admitted = this.#admitted.get(unit);
    return admitted !== undefined && admitted.copy === link.copy ? admitted.number : null;
  }

  /** Compares the copy behind the link with the fences of these units, and raises those that belong to another. */
  async admit(link: Link, units: readonly number[]): Promise<void> {
    const copy = link.copy;
    if (copy === null) throw new Unavailable('the state store is away', RETRY_MS);
    for (let looks = 0; looks < LOOKS_MAX; looks++) {
      const fences = await this.#store.read();
      const others = units.filter((unit) => !isOf(fences.get(unit), copy));
      if (others.length === 0) {
        for (const unit of units) this.#admitted.set(unit, { number: (fences.get(unit) as Fence).number, copy });
        return;
      }
      // Above those of all units: a key stays below whichever unit it comes to lie in when one server becomes a Cluster.
      const number = 1 + Math.max(0, ...[...fences.values()].map((fence) => fence.number));
      await Promise.all(others.map((unit) => this.#store.raise(unit, fences.get(unit) ?? null, { number, ...copy })));
    }
    throw new Unavailable('the fences of the state store do not settle', RETRY_MS);
  }

  /** Takes over numbers that other nodes have raised; answers the units that truth gives to another copy than ours. */
  async reread(): Promise<Set<number>> {
    const fences = await this.#store.read();
    const lost = new Set<number>();
    for (const [unit, { copy }] of this.#admitted) {
      const fence = fences.get(unit);
      if (isOf(fence, copy)) this.#admitted.set(unit, { number: fence.number, copy });
      else lost.add(unit);
    }
    for (const unit of lost) this.#admitted.delete(unit);
    return lost;
  }
}

function isOf(fence: Fence | undefined, copy: Copy): fence is Fence {
  return fence !== undefined && fence.runId === copy.runId && fence.replId === copy.replId;
}
