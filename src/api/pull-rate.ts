import { Unavailable } from '../errors.ts';
import type { Metrics } from '../metrics.ts';
import type { Clock } from '../ports.ts';

export interface PullRateOptions {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly perSecond: number;
}

/** So many seconds' worth may be asked for at once by somebody who was quiet. */
const BURST_SECONDS = 5;
/** Users remembered; who is forgotten starts with a full bucket, so the least recent are the cheapest to lose. */
const USERS_MAX = 100_000;

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

/** A token bucket a user: one page that polls in a loop takes nothing from the others. */
export function createPullRate({ clock, metrics, perSecond }: PullRateOptions): (user: string) => void {
  const burst = perSecond * BURST_SECONDS;
  /** Least recently used first. */
  const buckets = new Map<string, Bucket>();

  /** Throws Unavailable with `rate_limited` when the user has asked too often. */
  return (user) => {
    const nowMs = clock.steadyMs();
    const before = buckets.get(user) ?? { tokens: burst, filledAtMs: nowMs };
    const gained = ((nowMs - before.filledAtMs) / 1000) * perSecond;
    const tokens = Math.min(burst, before.tokens + gained);
    buckets.delete(user);
    buckets.set(user, { tokens: tokens >= 1 ? tokens - 1 : tokens, filledAtMs: nowMs });
    for (const oldest of buckets.keys()) {
      if (buckets.size <= USERS_MAX) break;
      buckets.delete(oldest);
    }
    if (tokens >= 1) return;
    metrics.rateLimited('pull');
    throw new Unavailable('too many requests', Math.ceil(((1 - tokens) / perSecond) * 1000), 'rate_limited');
  };
}
