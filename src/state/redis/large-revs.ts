import { Bug } from '../../errors.ts';
import type { Random } from '../../ports.ts';
import type { PartitionCalls } from './partition-calls.ts';
import { LARGE_PARTITION, largeKey } from './partitions.ts';
import { scripts } from './script-files.ts';
import { SharedRun } from './shared-run.ts';

const GENERATION_LENGTH = 8;
/** Large conversations whose rev is kept; above it the record begins anew, and each of them is asked of truth once. */
const CONVS_MAX = 100_000;
const RAISES_A_CALL = 1000;

/**
 * The revs of large conversations (CN8): one record in the store for all nodes, and in each node a copy that is brought up to date
 * with every read of a user's state, in the same round trip: it asks for what was raised since it last asked, which is nothing or a
 * few names. So a read costs the same whether its user is in no large conversation or in a hundred, and the record can lie in another
 * slot than the user. What the copy lacks counts as unknown; a record that was lost is told by its generation, and empties the copy.
 */
export class LargeRevs {
  readonly #calls: PartitionCalls;
  readonly #random: Random;
  readonly #ttlSeconds: number;
  readonly #revs = new Map<string, number>();
  #generation = '';
  #count = 0;
  readonly #asking = new SharedRun(() => this.#ask());

  constructor(calls: PartitionCalls, random: Random, ttlSeconds: number) {
    this.#calls = calls;
    this.#random = random;
    this.#ttlSeconds = ttlSeconds;
  }

  revOf(conv: string): number | undefined {
    return this.#revs.get(conv);
  }

  /** Resolves when the copy is as new as the record was at the time of the call. */
  caughtUp(): Promise<void> {
    return this.#asking.fresh();
  }

  async raise(revs: ReadonlyMap<string, number>): Promise<void> {
    const raises = [...revs].filter(([conv, rev]) => rev > (this.#revs.get(conv) ?? -1));
    for (let i = 0; i < raises.length; i += RAISES_A_CALL) {
      const named = raises.slice(i, i + RAISES_A_CALL).flatMap(([conv, rev]) => [conv, String(rev)]);
      const generation = this.#random.token(GENERATION_LENGTH);
      const args = [generation, String(CONVS_MAX), String(this.#ttlSeconds), ...named];
      await this.#calls.run(scripts.raiseLarge, LARGE_PARTITION, [largeKey()], args);
    }
  }

  async #ask(): Promise<void> {
    const args = [this.#generation, String(this.#count)];
    const reply = await this.#calls.run(scripts.largeSince, LARGE_PARTITION, [largeKey()], args);
    if (!Array.isArray(reply)) throw new Bug('the record of large conversations answered no list');
    const [generation, count, isWhole, ...named] = reply;
    if (isWhole === 1) this.#revs.clear();
    this.#generation = String(generation);
    this.#count = Number(count);
    for (let i = 0; i < named.length; i += 2) this.#revs.set(String(named[i]), Number(String(named[i + 1])));
  }
}
