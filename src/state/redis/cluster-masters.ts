import type { Redis } from 'ioredis';
import { Link, type LinkDeps } from './link.ts';
import type { Masters } from './masters.ts';
import { PARTITIONS, slotOfPartition } from './partitions.ts';
import type { Endpoint } from './redis-url.ts';
import { SharedRun } from './shared-run.ts';

export interface ClusterOptions extends LinkDeps {
  readonly seeds: readonly Endpoint[];
  readonly connect: (endpoint: Endpoint) => Redis;
}

/** From slot, to slot, then the master: host (null: the one that was asked), port. */
type SlotRange = readonly [number, number, readonly [Buffer | null, number]];

const SLOTS = Array.from({ length: PARTITIONS }, (_, partition) => slotOfPartition(partition));

/**
 * The masters of a Cluster, each with one connection. The map of slots is asked for at the start, once a second, and whenever an
 * answer says that it is out of date. A partition that moves is compared with the fences before its first command goes to its new
 * master; to follow redirections blindly would send that command before.
 */
export class ClusterMasters implements Masters {
  readonly units = Array.from({ length: PARTITIONS }, (_, partition) => partition);
  readonly #options: ClusterOptions;
  readonly #links = new Map<string, Link>();
  readonly #serving: (Link | null)[] = Array.from({ length: PARTITIONS }, () => null);
  readonly #refreshing = new SharedRun(() => this.#refresh());
  #isClosed = false;

  constructor(options: ClusterOptions) {
    this.#options = options;
  }

  unitOf(partition: number): number {
    return partition;
  }

  linkOf(partition: number): Link | null {
    return this.#serving[partition] ?? null;
  }

  unitsOf(link: Link): readonly number[] {
    return this.#serving.flatMap((one, partition) => (one === link ? [partition] : []));
  }

  links(): readonly Link[] {
    return [...this.#links.values()];
  }

  refresh(): Promise<void> {
    return this.#refreshing.fresh();
  }

  connectTo(partition: number): Redis | null {
    const [name] = [...this.#links].find(([, link]) => link === this.#serving[partition]) ?? [];
    return name === undefined ? null : this.#options.connect(endpointOf(name));
  }

  close(): void {
    this.#isClosed = true;
    for (const link of this.#links.values()) link.close();
  }

  async #refresh(): Promise<void> {
    for (const ask of this.#sources()) {
      try {
        const { host, ranges } = await ask();
        if (!this.#isClosed) this.#take(host, ranges);
        return;
      } catch (error) {
        this.#options.onError(error);
      }
    }
  }

  /** Masters that are connected first, then whoever is known from the URL. */
  #sources(): (() => Promise<{ host: string; ranges: SlotRange[] }>)[] {
    const open = [...this.#links].filter(([, link]) => link.isOpen);
    const known = open.map(([name, link]) => async () => ({
      host: endpointOf(name).host,
      ranges: (await link.send('CLUSTER', 'SLOTS')) as unknown as SlotRange[],
    }));
    const seeds = this.#options.seeds.map((seed) => () => this.#askSeed(seed));
    return [...known, ...seeds];
  }

  async #askSeed(seed: Endpoint): Promise<{ host: string; ranges: SlotRange[] }> {
    const redis = this.#options.connect(seed);
    try {
      await new Promise<void>((resolve, reject) => {
        redis.once('ready', resolve);
        redis.once('error', reject);
      });
      return { host: seed.host, ranges: (await redis.callBuffer('CLUSTER', 'SLOTS')) as SlotRange[] };
    } finally {
      redis.disconnect();
    }
  }

  #take(askedHost: string, ranges: readonly SlotRange[]): void {
    const masters = new Map<string, Link>();
    SLOTS.forEach((slot, partition) => {
      const range = ranges.find(([from, to]) => from <= slot && slot <= to);
      if (!range) {
        this.#serving[partition] = null;
        return;
      }
      const [host, port] = range[2];
      const name = nameOf({ host: host === null || host.length === 0 ? askedHost : host.toString(), port });
      const link = masters.get(name) ?? this.#links.get(name) ?? this.#connect(name);
      masters.set(name, link);
      this.#serving[partition] = link;
    });
    for (const [name, link] of this.#links) {
      if (masters.has(name)) continue;
      this.#links.delete(name);
      link.close();
    }
  }

  #connect(name: string): Link {
    const link = new Link(this.#options.connect(endpointOf(name)), this.#options);
    this.#links.set(name, link);
    return link;
  }
}

function nameOf({ host, port }: Endpoint): string {
  return `${host} ${port}`;
}

function endpointOf(name: string): Endpoint {
  const [host = '', port] = name.split(' ');
  return { host, port: Number(port) };
}
