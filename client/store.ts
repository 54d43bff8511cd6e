// The seam for persistence. `persisted()` (persistence.ts) makes a store of anything that can write a change.
import type { Row } from '../protocol/server-frames.ts';
import type { Command } from './command.ts';

/** What outlives a page: rows and cursor of one whole version, and the commands that no server has confirmed yet. */
export interface Kept {
  device: string;
  /** Whose rows these are; null before the first welcome. */
  user: string | null;
  /** Null before the first snapshot. */
  epoch: string | null;
  syncVersion: number;
  /** By conversation. Neither the map nor a row is ever changed: what is the same object is the same. */
  rows: ReadonlyMap<string, Row>;
  commands: readonly Command[];
}

export interface ClientStore {
  /** Also said when somebody else may have written since. Null when nothing was kept, or nothing that can be trusted: then a snapshot brings all. */
  load(): Promise<Kept | null>;
  /** Called after each change; may gather. A failure must not stop the client: it is for `failed` to tell. */
  save(kept: Kept): void;
  /** Where several clients share a store: `take` hears what another one has left undone. It is this one's from then on. */
  adopts?(take: (commands: readonly Command[]) => void): void;
  /** Forgets everything: another user, or a log-out. */
  clear(): void;
  /** Resolves when nothing is left to write. */
  settled(): Promise<void>;
}
