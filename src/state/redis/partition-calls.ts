import type { Redis } from 'ioredis';
import { Unavailable } from '../../errors.ts';
import type { Clock, FenceStore, Random } from '../../ports.ts';
import { ClusterMasters } from './cluster-masters.ts';
import { Fences } from './fences.ts';
import type { Argument, Copy, Link, LinkDeps, Reply } from './link.ts';
import type { Masters } from './masters.ts';
import { partitionKey } from './partitions.ts';
import { connectRedis } from './redis-connection.ts';
import type { Endpoint, RedisUrl } from './redis-url.ts';
import type { Script } from './script-files.ts';
import { SharedRun } from './shared-run.ts';
import { createSingleMaster } from './single-master.ts';

export interface PartitionCallsOptions {
  readonly url: RedisUrl;
  readonly clock: Clock;
  readonly random: Random;
  readonly fence: FenceStore;
  readonly onError: (error: unknown) => void;
}

/** ARCHITECTURE, truth and state: the fences are read again at least so often. */
const LOOK_MS = 1000;
const RETRY_MS = 250;
const OPEN_POLL_MS = 10;

/**
 * Calls of scripts, each at the master that serves its partition and under the fence of the partition. Whatever keeps a call from
 * being answered is Unavailable, at once or within the time that a command may take.
 */
export class PartitionCalls {
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #fences: Fences;
  readonly #masters: Masters;
  readonly #looking = new SharedRun(() => this.#look());
  #stopLooking: () => void = () => {};
  #isClosed = false;

  constructor({ url, clock, random, fence, onError }: PartitionCallsOptions) {
    this.#clock = clock;
    this.#onError = onError;
    this.#fences = new Fences(fence);
    const deps: LinkDeps = {
      clock,
      admit: (link) => this.#fences.admit(link, this.#masters.unitsOf(link)),
      onError: (error) => this.#fault(error),
      onMoved: () => void this.#refresh(),
    };
    const connect = (endpoint?: Endpoint) => connectRedis(url, random, endpoint);
    this.#masters =
      url.kind === 'cluster'
        ? new ClusterMasters({ ...deps, seeds: url.endpoints, connect })
        : createSingleMaster(connect, deps);
    void this.#refresh();
    this.#lookLater();
  }

  /** The partition under whose fence a call for this one goes; calls of one unit may be one. */
  unitOf(partition: number): number {
    return this.#masters.unitOf(partition);
  }

  /** `keys` and `args` without the partition's key and the fence, which stand first in every script. */
  async run(script: Script, partition: number, keys: readonly string[], args: readonly Argument[]): Promise<Reply> {
    const first = await this.#try(script, partition, keys, args);
    if (first !== null) return first;
    // Fenced: another node has seen another copy, or this one under a higher number.
    await this.#looking.fresh();
    const second = await this.#try(script, partition, keys, args);
    if (second === null) throw new Unavailable('the fence of the state store has been raised', RETRY_MS);
    return second;
  }

  /** The number that calls of the partition are made under now; for what is packed by the caller. */
  fenceOf(partition: number): number {
    return this.#route(this.unitOf(partition)).fence;
  }

  /** A command that needs no fence. */
  async send(partition: number, command: string, ...args: readonly Argument[]): Promise<Reply> {
    return this.#route(this.unitOf(partition)).link.send(command, ...args);
  }

  /** The copy that serves the partition; null while nobody does. */
  copyOf(partition: number): Copy | null {
    const link = this.#masters.linkOf(this.unitOf(partition));
    return link?.isOpen === true ? link.copy : null;
  }

  /** A connection of its own to the master that serves the partition, to be closed by the caller; null: nobody is known to serve it. */
  connectTo(partition: number): Redis | null {
    return this.#masters.connectTo(partition);
  }

  /** Throws Unavailable where a partition cannot be served. */
  async ping(): Promise<void> {
    for (const unit of this.#masters.units) this.#route(unit);
    await Promise.all(this.#masters.links().map((link) => link.send('PING')));
  }

  /** True as soon as all partitions can be served; false when `timeoutMs` have passed. */
  async opened(timeoutMs: number): Promise<boolean> {
    const endMs = this.#clock.steadyMs() + timeoutMs;
    while (!this.#isWhole()) {
      if (this.#isClosed || this.#clock.steadyMs() >= endMs) return false;
      await new Promise<void>((resolve) => this.#clock.after(OPEN_POLL_MS, resolve));
    }
    return true;
  }

  close(): void {
    this.#isClosed = true;
    this.#stopLooking();
    this.#masters.close();
  }

  async #try(script: Script, partition: number, keys: readonly string[], args: readonly Argument[]): Promise<Reply> {
    const unit = this.unitOf(partition);
    const { link, fence } = this.#route(unit);
    return link.run(script, [partitionKey(unit), ...keys], [String(fence), ...args]);
  }

  #route(unit: number): { link: Link; fence: number } {
    const link = this.#masters.linkOf(unit);
    if (!link?.isOpen) throw new Unavailable('the state store is away', RETRY_MS);
    const fence = this.#fences.numberFor(unit, link);
    if (fence === null) throw new Unavailable('the state store has just moved', RETRY_MS);
    return { link, fence };
  }

  #isWhole(): boolean {
    return this.#masters.units.every((unit) => {
      const link = this.#masters.linkOf(unit);
      return link?.isOpen === true && this.#fences.numberFor(unit, link) !== null;
    });
  }

  async #refresh(): Promise<void> {
    if (this.#isClosed) return;
    await this.#masters.refresh();
    await this.#admitMoved();
  }

  /** Units that came to a link which was open already. */
  async #admitMoved(): Promise<void> {
    for (const link of this.#masters.links()) {
      if (!link.isOpen) continue;
      const moved = this.#masters.unitsOf(link).filter((one) => this.#fences.numberFor(one, link) === null);
      if (moved.length > 0) await this.#fences.admit(link, moved).catch((error: unknown) => this.#fault(error));
    }
  }

  #lookLater(): void {
    this.#stopLooking = this.#clock.after(LOOK_MS, () => {
      void this.#looking
        .fresh()
        .catch((error: unknown) => this.#fault(error))
        .then(() => {
          if (!this.#isClosed) this.#lookLater();
        });
    });
  }

  /** Both sides of the fence: whether the servers are still the same copies, and what truth says of them. */
  async #look(): Promise<void> {
    const open = this.#masters.links().filter((link) => link.isOpen);
    const same = await Promise.all(open.map((link) => link.isSameCopy().catch(() => true)));
    open.forEach((link, i) => {
      if (same[i] === false) link.reset();
    });
    const lost = await this.#fences.reread();
    for (const link of this.#masters.links()) {
      if (this.#masters.unitsOf(link).some((unit) => lost.has(unit))) link.reset();
    }
    await this.#refresh();
  }

  #fault(error: unknown): void {
    if (!this.#isClosed) this.#onError(error);
  }
}
