import { Link, type LinkDeps } from './link.ts';
import type { Masters } from './masters.ts';
import { PARTITIONS } from './partitions.ts';
import type { Redis } from 'ioredis';

const ALL = Array.from({ length: PARTITIONS }, (_, partition) => partition);

/** One server, or the master that Sentinels name: it serves all partitions. */
export function createSingleMaster(connect: () => Redis, deps: LinkDeps): Masters {
  const link = new Link(connect(), deps);
  return {
    linkOf: () => link,
    partitionsOf: () => ALL,
    links: () => [link],
    refresh: () => Promise.resolve(),
    connectTo: () => connect(),
    close: () => link.close(),
  };
}
