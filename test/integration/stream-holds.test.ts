import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HeldStream } from '../../src/stream/held-stream.ts';
import { streamKeys } from '../../src/stream/stream-keys.ts';
import { StreamLink } from '../../src/stream/stream-link.ts';
import { systemRandom } from '../../src/system.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { openServiceBench } from '../support/service-bench.ts';
import { createStop } from '../support/stop.ts';
import { openStreamBench, seqsOf, type StreamBench, streamMessage, OFTEN } from '../support/stream-bench.ts';

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(async () => {
  await server.stop();
});

describe('one reader a stream', () => {
  /** For longer than any test takes: a hold runs out when the test says so. */
  async function hold(stream: StreamBench, conv: string, token: string) {
    const link = new StreamLink({ url: server.url, random: systemRandom, onError: () => {} });
    await link.opened();
    const [, partition] = /\{(\d+)\}/.exec(stream.streamOf(conv)) ?? [];
    const keys = streamKeys(stream.prefix, Number(partition));
    return {
      link,
      held: new HeldStream({ link, keys, prefix: stream.prefix, token, leaseMs: 60_000 }),
      /** As when its time is over: the server drops it. */
      runOut: async () => expect(await server.admin.del(keys.lease)).toBe(1),
    };
  }

  test('[OR1] what an abandoned reader left is applied before anything newer, and that reader cannot settle any more', async () => {
    const bench = openServiceBench();
    const stream = openStreamBench(server);
    for (const id of ['m1', 'm2']) await stream.add(streamMessage('c', id));
    const { held, link, runOut } = await hold(stream, 'c', 'abandoned');
    // What others left comes first, and is nothing here.
    expect(await held.take([])).toMatchObject({ entries: [], length: 2 });
    expect((await held.take([]))?.entries).toHaveLength(2);
    for (const id of ['m3', 'm4']) await stream.add(streamMessage('c', id));
    await runOut();
    const order: string[] = [];
    stream.consume(async (values) => {
      order.push(...values.map((value) => (value as { message_id: string }).message_id));
      return bench.services.post.post(values);
    });
    await stream.allDone();
    expect(order).toEqual(['m1', 'm2', 'm3', 'm4']);
    const late = await stream.add({ type: 'message.created', conv: 'c', message_id: 'm5', sender: 7 });
    expect(await held.settle([late], [late])).toBeNull();
    expect(await held.take([])).toBeNull();
    link.close();
  });

  test('[OR1] a stream that is held is not taken by another, and given back it is at once', async () => {
    const stream = openStreamBench(server);
    const one = await hold(stream, 'c', 'one');
    const other = await hold(stream, 'c', 'other');
    expect(await one.held.take([])).not.toBeNull();
    expect(await other.held.take([])).toBeNull();
    await other.held.giveBack();
    expect(await other.held.take([])).toBeNull();
    await one.held.giveBack();
    expect(await other.held.take([])).toMatchObject({ entries: [] });
    one.link.close();
    other.link.close();
  });

  test('[OR1] a hold that ran out is over, though nobody has taken the stream since: what is left comes first again', async () => {
    const stream = openStreamBench(server);
    await stream.add(streamMessage('c', 'm1'));
    const { held, link, runOut } = await hold(stream, 'c', 'slow');
    expect(await held.take([])).toMatchObject({ entries: [] });
    expect((await held.take([]))?.entries).toHaveLength(1);
    await runOut();
    expect(await held.take([])).toBeNull();
    expect(await held.settle(['0-1'], [])).toBeNull();
    link.close();
  });

  test('[OR1] a batch that takes longer than a lease keeps its stream', async () => {
    const stream = openStreamBench(server, 1);
    const stop = createStop();
    await stream.add(streamMessage('c', 'm1'));
    const { errors } = stream.consume(
      async (values) => {
        await stop.here();
        return values.map(() => ({ ok: true }));
      },
      { leaseMs: 3000 },
    );
    await stop.reached;
    // What is left of the lease falls, and rises again.
    let leftMs = Infinity;
    const hasRisen = async (): Promise<boolean> => {
      const beforeMs = leftMs;
      leftMs = await server.admin.pttl(`${stream.prefix}:{0}:lease`);
      return leftMs > beforeMs;
    };
    await expect.poll(hasRisen, OFTEN).toBe(true);
    stop.letGo();
    await stream.allDone();
    expect(errors).toEqual([]);
  });

  test('two nodes share the streams, each is read by one of them, and whoever is left reads all', async () => {
    const bench = openServiceBench();
    const stream = openStreamBench(server);
    const readBy = new Map<string, Set<string>>();
    const node = (name: string) =>
      stream.consume(async (values) => {
        for (const value of values) {
          const { conv } = value as { conv: string };
          readBy.set(conv, (readBy.get(conv) ?? new Set()).add(name));
        }
        return bench.services.post.post(values);
      });
    const holders = async (): Promise<Record<string, number>> => {
      const counts: Record<string, number> = {};
      for (let n = 0; n < stream.partitions; n++) {
        const holder = (await server.admin.get(`${stream.prefix}:{${n}}:lease`)) ?? 'nobody';
        counts[holder] = (counts[holder] ?? 0) + 1;
      }
      return counts;
    };
    const one = node('one');
    await expect.poll(async () => Object.keys(await holders()), OFTEN).not.toContain('nobody');
    node('other');
    const convs = Array.from({ length: 24 }, (_, i) => `conv-${i}`);
    const nodesReading = (): Set<string> => new Set([...readBy.values()].flatMap((names) => [...names]));
    let round = 0;
    await expect
      .poll(async () => {
        round++;
        for (const conv of convs) await stream.add(streamMessage(conv, `m${round}`));
        await stream.allDone();
        return nodesReading();
      }, OFTEN)
      .toEqual(new Set(['one', 'other']));
    await one.stop();
    readBy.clear();
    for (const conv of convs) await stream.add(streamMessage(conv, 'last'));
    await stream.allDone();
    expect(nodesReading()).toEqual(new Set(['other']));
    for (const conv of convs) {
      expect(await seqsOf(bench, conv, ['m1', 'last'])).toEqual([1, round + 1]);
    }
  });

  test('a drain ends what was taken and takes nothing more', async () => {
    const stream = openStreamBench(server, 1);
    let isPosting = (): void => {};
    let answer = (): void => {};
    const posting = new Promise<void>((resolve) => (isPosting = resolve));
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const applied: unknown[] = [];
    await stream.add(streamMessage('c', 'm1'));
    const consumer = stream.consume(async (values) => {
      isPosting();
      await answered;
      applied.push(...values);
      return values.map(() => ({ ok: true }));
    });
    await posting;
    const stopped = consumer.stop();
    await stream.add(streamMessage('c', 'm2'));
    answer();
    await stopped;
    expect(applied).toHaveLength(1);
    expect(await stream.waiting()).toBe(1);
    expect(await server.admin.exists(`${stream.prefix}:{0}:lease`)).toBe(0);
    expect(consumer.errors).toEqual([]);
  });
});
