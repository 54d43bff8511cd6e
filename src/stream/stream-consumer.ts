/**
 * Events of SPEC §12 from Redis streams, beside HTTP (docs/STREAM.md): producers choose the stream by the conversation, each stream
 * is read by one node at a time, and all nodes that read share the streams.
 */
import { Unavailable } from '../errors.ts';
import type { Metrics } from '../metrics.ts';
import type { Clock, Random } from '../ports.ts';
import type { Post } from '../services/post.ts';
import { Places } from './places.ts';
import { nodesKey } from './stream-keys.ts';
import { StreamLink, streamScripts } from './stream-link.ts';
import { StreamReader } from './stream-reader.ts';

export interface StreamConsumerOptions {
  readonly url: string;
  readonly prefix: string;
  readonly partitions: number;
  readonly post: Pick<Post, 'post'>;
  /** Throws Unavailable while the state is away. */
  readonly ready: () => Promise<void>;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: Metrics;
  readonly onError: (error: unknown) => void;
  readonly leaseMs?: number;
  readonly refusedRetryMs?: number;
  readonly pauseMaxMs?: number;
}

export interface StreamConsumer {
  start(): void;
  /** Resolves when what was taken is applied and written down, and the streams are given back. */
  stop(): Promise<void>;
}

const LEASE_MS = 10_000;
/** 1 + 2 + 4 + 8 s until the last delivery: what a refusal waits for may come by another way. */
const REFUSED_RETRY_MS = 1000;
const PAUSE_MAX_MS = 5000;
const ROLL_CALL_MS = 1000;
/** A node that has not been heard for so long holds nothing any more. */
const ALIVE_MS = 10_000;
const NODE_LENGTH = 12;

export function createStreamConsumer(options: StreamConsumerOptions): StreamConsumer {
  const { url, prefix, partitions, clock, random, onError } = options;
  const { leaseMs = LEASE_MS, refusedRetryMs = REFUSED_RETRY_MS, pauseMaxMs = PAUSE_MAX_MS } = options;
  const link = new StreamLink({ url, random, onError });
  const places = new Places(partitions);
  const node = random.token(NODE_LENGTH);
  const deps = { ...options, link, places, leaseMs, refusedRetryMs, pauseMaxMs };
  const readers = Array.from({ length: partitions }, (_, partition) => new StreamReader(deps, partition));
  let isStopped = false;
  let cancel = (): void => {};

  /** While the server is away, of which the readers tell, the last count holds: leases decide who reads, and this only how evenly. */
  async function callRoll(aliveMs: number): Promise<void> {
    try {
      places.nodes = Number(await link.run(streamScripts.rollCall, [nodesKey(prefix)], [node, aliveMs]));
    } catch (error) {
      if (!(error instanceof Unavailable)) onError(error);
    }
  }

  async function callAgain(): Promise<void> {
    await callRoll(ALIVE_MS);
    if (!isStopped) cancel = clock.after(ROLL_CALL_MS, () => void callAgain());
  }

  return {
    start() {
      void (async () => {
        await link.opened();
        if (isStopped) return;
        await callAgain();
        if (!isStopped) for (const reader of readers) reader.start();
      })();
    },
    async stop() {
      isStopped = true;
      cancel();
      await Promise.all(readers.map((reader) => reader.stop()));
      await callRoll(0);
      link.close();
    },
  };
}
