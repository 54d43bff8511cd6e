import type { Redis } from 'ioredis';
import type { Link } from './link.ts';

/** Which master serves which partition. */
export interface Masters {
  /**
   * What calls and fences go by, named by one partition of it: in a Cluster each partition for itself; where one server holds them
   * all they are one unit, so that one call serves any users.
   */
  unitOf(partition: number): number;
  /** By which all partitions are served. */
  readonly units: readonly number[];
  /** Null: nobody is known to serve it. */
  linkOf(unit: number): Link | null;
  unitsOf(link: Link): readonly number[];
  links(): readonly Link[];
  /** Looks again who serves what; one look at a time. */
  refresh(): Promise<void>;
  /** Another connection to the master of the partition; null: nobody is known to serve it. */
  connectTo(partition: number): Redis | null;
  close(): void;
}
