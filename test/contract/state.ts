import { afterAll, beforeAll, describe } from 'vitest';
import type { StateStore } from '../../src/ports.ts';
import { buildsContract } from './state-builds.ts';
import { interleavingsContract } from './state-interleavings.ts';
import { partsContract } from './state-parts.ts';
import { readingContract } from './state-reading.ts';
import { rowsContract } from './state-rows.ts';

/** A store as an adapter's test file opens it: empty, and with two clients as two nodes would have them. */
export interface OpenState {
  readonly state: StateStore;
  /** The same store as another node sees it; the same object where there is only one process. */
  readonly other: StateStore;
  /** Makes the store lose the user's key by itself, as it does when memory runs short. */
  evict(user: string): Promise<void>;
  close(): Promise<void>;
}

/** What a test of the contract gets: the store of its file, and users that no other test has. */
export interface StateUnderTest {
  readonly state: StateStore;
  readonly other: StateStore;
  evict(user: string): Promise<void>;
  freshUser(): string;
}

/** What every StateStore promises; the adapters pass it unchanged. */
export function stateContract(name: string, open: () => Promise<OpenState>): void {
  describe(`state contract: ${name}`, () => {
    let opened: OpenState;
    let users = 0;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(async () => {
      await opened.close();
    });
    const under: StateUnderTest = {
      get state() {
        return opened.state;
      },
      get other() {
        return opened.other;
      },
      evict: async (user) => opened.evict(user),
      freshUser: () => `user-${users++}`,
    };
    rowsContract(under);
    partsContract(under);
    readingContract(under);
    buildsContract(under);
    interleavingsContract(under);
  });
}
