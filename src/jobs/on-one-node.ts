import type { Leases } from '../ports.ts';

/** Work on all data of the installation is one thing: the node that forgets event ids also walks the users. */
const NAME = 'upkeep';
/** Three runs of the job that comes every minute: after that another node takes over. */
const HOLD_MS = 3 * 60_000;

/** The work, on the node that is the one for it; on the others nothing. */
export function onOneNode(leases: Pick<Leases, 'hold'>, run: () => Promise<void>): () => Promise<void> {
  return async () => {
    if (await leases.hold(NAME, HOLD_MS)) await run();
  };
}
