import { Link, type LinkDeps } from './link.ts';
import type { Masters } from './masters.ts';
import type { Redis } from 'ioredis';

const ALL = [0];

/** One server, or the master that Sentinels name: it serves all partitions. */
export function createSingleMaster(connect: () => Redis, deps: LinkDeps): Masters {
  const link = new Link(connect(), deps);
  return {
    unitOf: () => 0,
    units: ALL,
    linkOf: () => link,
    unitsOf: () => ALL,
    links: () => [link],
    refresh: () => Promise.resolve(),
    connectTo: () => connect(),
    close: () => link.close(),
  };
}
