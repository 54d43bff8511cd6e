import { schedule } from './jobs/schedule.ts';
import type { Clock, Leases } from './ports.ts';

export interface SoleNodeDeps {
  readonly leases: Leases;
  readonly clock: Clock;
  /** Told once, if another node has the claim at the start: why, and how long it is waited for. */
  readonly onWait?: ((error: unknown, patienceMs: number) => void) | undefined;
  /** Told of each time that the claim could not be confirmed. */
  readonly onError: (error: unknown) => void;
  /** Told once, when another node has or had the claim: what is in memory here may be wrong, so this node has to end. */
  readonly onLost: (error: Error) => void;
}

export interface SoleNode {
  /** False while truth has not confirmed the claim for so long that another node may have it. */
  isHeld(): boolean;
  release(): Promise<void>;
}

const NAME = 'sole-node';
/** Truth may be away for so long until the claim is in doubt, and the node after one that was killed waits for as long. */
const LEASE_MS = 6_000;
const CONFIRM_MS = 1_500;
const WAIT_POLL_MS = 250;
const ONLY_ONE = 'without TIDEMARK_REDIS_URL there can be only one';

/**
 * Makes this node the only one on its truth: two that keep the state in their own memory would not hear of each other's changes. The
 * claim stands in truth and runs out by the clock there, so it outlasts connections and restarts of truth; here it runs out no later,
 * since its time is counted from before it was asked for. Throws where another node keeps it.
 */
export async function claimSoleNode({ leases, clock, onWait, onError, onLost }: SoleNodeDeps): Promise<SoleNode> {
  let heldUntilMs = -Infinity;

  async function confirmed(ask: 'hold' | 'keep'): Promise<boolean> {
    const askedAtMs = clock.steadyMs();
    const isOurs = await leases[ask](NAME, LEASE_MS);
    heldUntilMs = isOurs ? askedAtMs + LEASE_MS : -Infinity;
    return isOurs;
  }

  const patienceMs = LEASE_MS + CONFIRM_MS;
  const giveUpAtMs = clock.steadyMs() + patienceMs;
  for (let isFirst = true; ; isFirst = false) {
    const askedAtMs = clock.steadyMs();
    if (await confirmed('hold')) break;
    // An answer that was long on its way is one of before, when the claim of a node that is gone had not run out.
    if (askedAtMs >= giveUpAtMs) throw new Error(`another node uses this database, and ${ONLY_ONE}`);
    if (isFirst) onWait?.(new Error('another node uses this database, or was killed a moment ago'), patienceMs);
    await new Promise<void>((resolve) => clock.after(WAIT_POLL_MS, resolve));
  }

  let isLost = false;
  const confirming = schedule({
    clock,
    intervalMs: CONFIRM_MS,
    onError,
    async run() {
      if (isLost || (await confirmed('keep'))) return;
      isLost = true;
      onLost(new Error(`another node has begun to use this database, and ${ONLY_ONE}`));
    },
  });
  confirming.start();
  return {
    isHeld: () => clock.steadyMs() < heldUntilMs,
    async release() {
      await confirming.stop();
      // Where truth is away it runs out by itself.
      if (!isLost) await leases.keep(NAME, 0).catch(onError);
    },
  };
}
