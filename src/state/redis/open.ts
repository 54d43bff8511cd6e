import { Bug, Unavailable } from '../../errors.ts';
import type { Clock, FenceStore, Random, StateStore, Wakeup } from '../../ports.ts';
import { PartitionCalls } from './partition-calls.ts';
import { parseRedisUrl } from './redis-url.ts';
import { RedisState } from './state.ts';
import { RedisWakeup } from './wakeup.ts';

export interface RedisOptions {
  /** See redis-url.ts. Throws where it cannot be read. */
  readonly url: string;
  readonly clock: Clock;
  readonly random: Random;
  /** The fences, in truth. */
  readonly fence: FenceStore;
  /** Every node reads the state of the users whose sockets it holds at least so often. */
  readonly comparisonMs: number;
  /** Told of what no caller waits for: connections that break, wake-ups that could not be published. */
  readonly onError: (error: unknown) => void;
  readonly ttlSeconds?: number;
}

const OPEN_WITHIN_MS = 5000;
const MINUTE_MS = 60_000;
const RETRY_MS = 250;

/**
 * State and wake-up of one node over the same connections. Resolves when they serve, or after some seconds also where they do not
 * yet: what is away at the start is no other thing than what goes away later. Closing the state closes both.
 */
export async function openRedis(options: RedisOptions): Promise<{ state: StateStore; wakeup: Wakeup }> {
  const { clock, random, fence, comparisonMs, ttlSeconds } = options;
  const onError = (error: unknown): void => options.onError(asFailure(error));
  const calls = new PartitionCalls({ url: parseRedisUrl(options.url), clock, random, fence, onError });
  const isOpen = await calls.opened(OPEN_WITHIN_MS);
  const nodeId = 1 + Math.floor(random.fraction() * (2 ** 32 - 1));
  const wakeup = new RedisWakeup({ calls, clock, nodeId, onError });
  const state = new RedisState({
    calls,
    clock,
    random,
    nodeId,
    holds: (user) => wakeup.holds(user),
    // Two comparisons may fail before a node is taken for one that holds nothing of the user any more.
    nodeMinutes: Math.ceil((3 * comparisonMs) / MINUTE_MS) + 2,
    ...(ttlSeconds === undefined ? {} : { ttlSeconds }),
  });
  const heard = isOpen ? wakeup.heard() : Promise.resolve();
  await Promise.race([heard, new Promise<void>((resolve) => clock.after(OPEN_WITHIN_MS, resolve))]);
  return { state, wakeup };
}

/** A connection that breaks or cannot be had is no fault of this program. */
function asFailure(error: unknown): unknown {
  if (error instanceof Bug || error instanceof Unavailable) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new Unavailable(`a connection to the state store failed: ${reason}`, RETRY_MS, 'unavailable', {
    cause: error,
  });
}
