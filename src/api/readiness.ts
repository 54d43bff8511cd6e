import { Deadline } from '../deadline.ts';
import { Unavailable } from '../errors.ts';
import type { Clock, StateStore, Truth } from '../ports.ts';

export type StoreName = 'truth' | 'state';

/** Stores without which, or with which, requests are still served, if less well. */
export interface Readiness {
  readonly away: readonly StoreName[];
  readonly slow: readonly StoreName[];
}

export interface ReadinessDeps {
  readonly truth: Pick<Truth, 'ping'>;
  readonly state: Pick<StateStore, 'ping'>;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** A call takes several round trips: where one takes so long, most are answered by `unavailable`. */
const SLOW_MS = 500;
const RETRY_MS = 1000;

/**
 * How both stores answer, asked at the same time. Throws Unavailable while truth does not. Without the state events, acks and pulls go
 * on from truth; a balancer that sent them nowhere would make an outage of it.
 */
export async function readiness({ truth, state, clock, onError }: ReadinessDeps): Promise<Readiness> {
  const [truthTook, stateTook] = await Promise.all([tookMs(truth), tookMs(state)]);
  if (truthTook === null) throw new Unavailable('truth is away, or too slow to be used', RETRY_MS);
  const took = Object.entries({ truth: truthTook, state: stateTook }) as [StoreName, number | null][];
  return {
    away: took.flatMap(([name, ms]) => (ms === null ? [name] : [])),
    slow: took.flatMap(([name, ms]) => (ms !== null && ms >= SLOW_MS ? [name] : [])),
  };

  async function tookMs(store: { ping(): Promise<void> }): Promise<number | null> {
    const sinceMs = clock.steadyMs();
    try {
      await new Deadline(clock).meet(store.ping(), onError);
      return clock.steadyMs() - sinceMs;
    } catch (error) {
      if (error instanceof Unavailable) return null;
      throw error;
    }
  }
}
