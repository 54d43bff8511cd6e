import { Unavailable } from '../../errors.ts';
import type { Fence, FenceStore } from '../../ports.ts';
import type { Copy, Link } from './link.ts';
import { PARTITIONS } from './partitions.ts';

/** Nodes that raise at the same time settle in one more look; more often than this in a row, two copies are fighting. */
const LOOKS_MAX = 10;
const RETRY_MS = 250;

interface Admitted {
  readonly number: number;
  readonly copy: Copy;
}

/**
 * The fences as this node knows them (DESIGN §2). A partition is served by the copy that truth names, under the number that truth
 * gave it; a copy that truth does not know takes the next number, by compare and set, and with it all keys written under an older
 * number count as missing. So the promotion of a replica that lags, or a restart from an older file, costs a rebuild and never
 * brings back a version that was already given out.
 */
export class Fences {
  readonly #store: FenceStore;
  readonly #admitted: (Admitted | null)[] = Array.from({ length: PARTITIONS }, () => null);

  constructor(store: FenceStore) {
    this.#store = store;
  }

  /** The number to call a partition with over a link; null: the copy behind it has not been compared with truth. */
  numberFor(partition: number, link: Link): number | null {
    const admitted = this.#admitted[partition];
    return admitted && admitted.copy === link.copy ? admitted.number : null;
  }

  /** Compares the copy behind the link with the fences of these partitions, and raises those that belong to another. */
  async admit(link: Link, partitions: readonly number[]): Promise<void> {
    const copy = link.copy;
    if (copy === null) throw new Unavailable('the state store is away', RETRY_MS);
    for (let looks = 0; looks < LOOKS_MAX; looks++) {
      const fences = await this.#store.read();
      const others = partitions.filter((partition) => !isOf(fences.get(partition), copy));
      if (others.length === 0) {
        for (const partition of partitions) {
          this.#admitted[partition] = { number: (fences.get(partition) as Fence).number, copy };
        }
        return;
      }
      await Promise.all(
        others.map((partition) => {
          const expected = fences.get(partition) ?? null;
          return this.#store.raise(partition, expected, { number: (expected?.number ?? 0) + 1, ...copy });
        }),
      );
    }
    throw new Unavailable('the fences of the state store do not settle', RETRY_MS);
  }

  /** Takes over numbers that other nodes have raised; answers the partitions that truth gives to another copy than ours. */
  async reread(): Promise<Set<number>> {
    const fences = await this.#store.read();
    const lost = new Set<number>();
    this.#admitted.forEach((admitted, partition) => {
      if (!admitted) return;
      const fence = fences.get(partition);
      if (isOf(fence, admitted.copy)) this.#admitted[partition] = { number: fence.number, copy: admitted.copy };
      else lost.add(partition);
    });
    for (const partition of lost) this.#admitted[partition] = null;
    return lost;
  }
}

function isOf(fence: Fence | undefined, copy: Copy): fence is Fence {
  return fence !== undefined && fence.runId === copy.runId && fence.replId === copy.replId;
}
