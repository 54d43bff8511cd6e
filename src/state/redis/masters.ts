import type { Redis } from 'ioredis';
import type { Link } from './link.ts';

/** Which master serves which partition. */
export interface Masters {
  /** Null: nobody is known to serve it. */
  linkOf(partition: number): Link | null;
  partitionsOf(link: Link): readonly number[];
  links(): readonly Link[];
  /** Looks again who serves what; one look at a time. */
  refresh(): Promise<void>;
  /** Another connection to the master of the partition; null: nobody is known to serve it. */
  connectTo(partition: number): Redis | null;
  close(): void;
}
