import { crc32 } from 'node:zlib';
import { expect, onTestFinished } from 'vitest';
import type { EventResult } from '../../protocol/index.ts';
import { noMetrics } from '../../src/metrics.ts';
import { createStreamConsumer, type StreamConsumerOptions } from '../../src/stream/stream-consumer.ts';
import { systemClock, systemRandom } from '../../src/system.ts';
import { freshName } from './fresh-name.ts';
import type { RedisServer } from './redis.ts';
import type { ServiceBench } from './service-bench.ts';

/** The streams of one test on a server that tests share, and readers of them. */
export interface StreamBench {
  readonly prefix: string;
  readonly partitions: number;
  /** The stream of a conversation, as docs/STREAM.md says. */
  streamOf(conv: string): string;
  /** To the stream of its conversation; answers the id of the entry. */
  add(event: { conv: string } & Record<string, unknown>): Promise<string>;
  /** Any entry, in the stream of this conversation. */
  addRaw(conv: string, ...fields: (string | Buffer)[]): Promise<string>;
  /** Entries that are not done, of all streams. */
  waiting(): Promise<number>;
  /** Resolves when none is left. */
  allDone(): Promise<void>;
  /** The dead letters, each with its fields by name. */
  dead(): Promise<Record<string, string>[]>;
  /** Started, and stopped when the test ends. */
  consume(
    post: (values: readonly unknown[]) => Promise<EventResult[]>,
    options?: Partial<StreamConsumerOptions>,
  ): { stop(): Promise<void>; readonly errors: unknown[] };
}

export function openStreamBench({ admin, url }: RedisServer, partitions = 4): StreamBench {
  const prefix = freshName('stream');
  const streamOf = (conv: string): string => `${prefix}:{${crc32(conv) % partitions}}`;
  const bench: StreamBench = {
    prefix,
    partitions,
    streamOf,
    add: (event) => bench.addRaw(event.conv, 'event', JSON.stringify(event)),
    addRaw: async (conv, ...fields) => String(await admin.call('XADD', streamOf(conv), '*', ...fields)),
    async waiting() {
      const streams = Array.from({ length: partitions }, (_, n) => `${prefix}:{${n}}`);
      const lengths = await Promise.all(streams.map((stream) => admin.xlen(stream)));
      return lengths.reduce((sum, length) => sum + length, 0);
    },
    allDone: () => expect.poll(() => bench.waiting(), OFTEN).toBe(0),
    async dead() {
      const entries = await admin.xrange(`${prefix}:dead`, '-', '+');
      return entries.map(([, fields]) =>
        Object.fromEntries(fields.flatMap((name, i) => (i % 2 === 0 ? [[name, fields[i + 1] ?? '']] : []))),
      );
    },
    consume(post, options = {}) {
      const errors: unknown[] = [];
      const consumer = createStreamConsumer({
        url,
        prefix,
        partitions,
        post: { post: (values) => post(values) },
        ready: () => Promise.resolve(),
        clock: systemClock,
        random: systemRandom,
        metrics: noMetrics,
        onError: (error) => void errors.push(error),
        leaseMs: LEASE_MS,
        refusedRetryMs: 5,
        pauseMaxMs: 50,
        ...options,
      });
      consumer.start();
      onTestFinished(() => consumer.stop());
      return { stop: () => consumer.stop(), errors };
    },
  };
  return bench;
}

/** What is counted here is counted for one hold: a machine that stands still for a moment must not make a reader lose its stream. */
const LEASE_MS = 60_000;

/** How often it is looked for what streams bring. */
export const OFTEN = { interval: 10 };

export function streamMessage(conv: string, message_id: string, more: object = {}) {
  return { type: 'message.created', conv, message_id, sender: 'bob', members: ['ann', 'bob'], ...more };
}

export function posting({ services }: ServiceBench): (values: readonly unknown[]) => Promise<EventResult[]> {
  return (values) => services.post.post(values);
}

/** Seqs by message_id: posted again, a message answers where it stands. */
export async function seqsOf(
  { services }: ServiceBench,
  conv: string,
  ids: readonly string[],
): Promise<(number | undefined)[]> {
  const results = await services.post.post(ids.map((id) => streamMessage(conv, id)));
  return results.map((result) => (result.ok && result.duplicate === true ? result.seq : undefined));
}
