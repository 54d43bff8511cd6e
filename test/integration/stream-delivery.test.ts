import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EventResult } from '../../protocol/index.ts';
import { Unavailable } from '../../src/errors.ts';
import { createMetrics } from '../../src/metrics.ts';
import { systemRandom } from '../../src/system.ts';
import { HeldStream } from '../../src/stream/held-stream.ts';
import { streamKeys } from '../../src/stream/stream-keys.ts';
import { StreamLink } from '../../src/stream/stream-link.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { startApp } from '../support/running-app.ts';
import { openServiceBench, type ServiceBench } from '../support/service-bench.ts';
import { openStreamBench, type StreamBench } from '../support/stream-bench.ts';

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(async () => {
  await server.stop();
});

const WITHIN = { timeout: 20_000, interval: 10 };

function message(conv: string, message_id: string, more: object = {}) {
  return { type: 'message.created', conv, message_id, sender: 'bob', members: ['ann', 'bob'], ...more };
}

async function allDone(stream: StreamBench): Promise<void> {
  await expect.poll(() => stream.waiting(), WITHIN).toBe(0);
}

function posting({ services }: ServiceBench): (values: readonly unknown[]) => Promise<EventResult[]> {
  return (values) => services.post.post(values);
}

/** Seqs by message_id: posted again, a message answers where it stands. */
async function seqsOf(
  { services }: ServiceBench,
  conv: string,
  ids: readonly string[],
): Promise<(number | undefined)[]> {
  const results = await services.post.post(ids.map((id) => message(conv, id)));
  return results.map((result) => (result.ok && result.duplicate === true ? result.seq : undefined));
}

describe('events from streams', () => {
  test('are applied in the order of their stream, and leave it when they are durable', async () => {
    const bench = openServiceBench();
    const stream = openStreamBench(server);
    const ids = Array.from({ length: 600 }, (_, i) => `m${i}`);
    for (const id of ids) await stream.add(message('c', id));
    stream.consume(posting(bench));
    await allDone(stream);
    expect(await seqsOf(bench, 'c', ids)).toEqual(ids.map((_, i) => i + 1));
    expect(await bench.unread('ann', 'c')).toBe(600);
    const [group] = (await server.admin.xinfo('GROUPS', stream.streamOf('c'))) as [unknown[]];
    expect(group).toEqual(expect.arrayContaining(['pending', 0, 'lag']));
  });

  test('[DT3] an entry without event_id takes its stream and entry id as one; one that has an id keeps it', async () => {
    const stream = openStreamBench(server);
    const seen: unknown[] = [];
    const own = await stream.add({ type: 'member.left', conv: 'c', users: ['u'] });
    await stream.add({ type: 'member.left', conv: 'c', users: ['u'], event_id: 'mine' });
    stream.consume(async (values) => {
      seen.push(...values);
      return values.map(() => ({ ok: true }));
    });
    await allDone(stream);
    expect(seen).toEqual([
      { type: 'member.left', conv: 'c', users: ['u'], event_id: `${stream.streamOf('c')}:${own}` },
      { type: 'member.left', conv: 'c', users: ['u'], event_id: 'mine' },
    ]);
  });

  test('duplicates count once: two entries of one message, and one entry applied twice', async () => {
    const bench = openServiceBench();
    const stream = openStreamBench(server);
    await stream.add(message('c', 'm1'));
    await stream.add(message('c', 'm1'));
    await stream.add({ type: 'member.joined', conv: 'c', users: ['eve'] });
    await stream.add({ type: 'member.left', conv: 'c', users: ['eve'] });
    let posts = 0;
    stream.consume(async (values) => {
      const results = await bench.services.post.post(values);
      // The answer is lost after the commit.
      if (posts++ === 0) throw new Unavailable('no answer', 1);
      return results;
    });
    await allDone(stream);
    expect(posts).toBeGreaterThan(1);
    expect(await bench.unread('ann', 'c')).toBe(1);
    expect(await bench.truth.membersOf('c')).not.toContain('eve');
    expect(await stream.dead()).toEqual([]);
  });
});

describe('a server that reads streams', () => {
  test('beside HTTP, shows what it does in its metrics, and ends in good order', async () => {
    const stream = openStreamBench(server);
    const running = await startApp({
      TIDEMARK_STREAM_URL: server.url,
      TIDEMARK_STREAM_PREFIX: stream.prefix,
      TIDEMARK_STREAM_PARTITIONS: String(stream.partitions),
    });
    await running.post(message('c', 'm1'));
    await stream.add(message('c', 'm1'));
    await stream.add(message('c', 'm2'));
    await allDone(stream);
    expect((await running.call('GET', '/v1/users/ann/unread')).body).toMatchObject({ total: 2 });
    const { body } = await running.call('GET', '/metrics');
    expect(body['text']).toContain('tidemark_events_total{type="message.created",result="duplicate"} 1');
    expect(body['text']).toMatch(/tidemark_stream_waiting_entries\{stream="\d"\} 0/);
    await running.app.drain();
    expect(await server.admin.keys(`${stream.prefix}:*:lease`)).toEqual([]);
    expect(await server.admin.exists(`${stream.prefix}:nodes`)).toBe(0);
    await running.stop();
  });
});

describe('what cannot be applied', () => {
  test('goes to the dead letters after five deliveries, with its error; later entries of its conversation go on', async () => {
    const bench = openServiceBench();
    const stream = openStreamBench(server);
    const metrics = createMetrics();
    await stream.add(message('c', 'm1'));
    const poison = await stream.add({ type: 'message.created', conv: 'c', message_id: 'm2', sender: 7 });
    await stream.add(message('c', 'm3'));
    const deliveries: number[] = [];
    stream.consume(
      async (values) => {
        deliveries.push(values.filter((value) => (value as { message_id: string }).message_id === 'm2').length);
        return bench.services.post.post(values);
      },
      { metrics },
    );
    await allDone(stream);
    expect(await seqsOf(bench, 'c', ['m1', 'm3'])).toEqual([1, 2]);
    expect(deliveries.reduce((sum, count) => sum + count, 0)).toBe(5);
    const [letter, ...others] = await stream.dead();
    expect(others).toEqual([]);
    expect(letter).toMatchObject({
      stream: stream.streamOf('c'),
      entry: poison,
      code: 'invalid_field',
      field: 'sender',
    });
    expect(JSON.parse(letter?.['event'] ?? '')).toEqual({
      type: 'message.created',
      conv: 'c',
      message_id: 'm2',
      sender: 7,
    });
    const text = await metrics.render();
    expect(text).toContain('tidemark_stream_dead_letters_total{code="invalid_field"} 1');
    expect(text).toContain('tidemark_stream_redelivered_total 4');
    expect(await server.admin.exists(`${stream.streamOf('c')}:refusals`)).toBe(0);
  });

  test('no JSON, no UTF-8, no field, no object: each is a refusal, and none stops the others', async () => {
    const bench = openServiceBench();
    const stream = openStreamBench(server);
    await stream.addRaw('c', 'event', '{"type":');
    await stream.addRaw('c', 'event', Buffer.from('{"type":"\xff"}', 'latin1'));
    await stream.addRaw('c', 'payload', '{}');
    await stream.addRaw('c', 'event', '[]');
    await stream.addRaw('c', 'event', 'x'.repeat(8 * 2 ** 20 + 1));
    await stream.addRaw('c', 'event', JSON.stringify({ type: 'nothing', conv: 'c' }));
    await stream.add(message('c', 'm1'));
    stream.consume(posting(bench));
    await allDone(stream);
    expect(await bench.unread('ann', 'c')).toBe(1);
    // In the order of their entries: they were refused equally often.
    expect((await stream.dead()).map(({ code }) => code)).toEqual([
      'malformed_json',
      'malformed_json',
      'invalid_field',
      'invalid_field',
      'too_large',
      'unknown_event',
    ]);
  });

  test('a refusal that does not last: what it waited for comes, and it is applied', async () => {
    const bench = openServiceBench();
    const stream = openStreamBench(server);
    await stream.add({ type: 'member.joined', conv: 'c', users: ['eve'] });
    let refusals = 0;
    stream.consume(async (values) => {
      const results = await bench.services.post.post(values);
      refusals += results.filter(({ ok }) => !ok).length;
      // It comes by HTTP.
      if (refusals === 2) await bench.accept({ type: 'conversation.created', conv: 'c', members: ['ann'] });
      return results;
    });
    await allDone(stream);
    expect(await bench.truth.membersOf('c')).toEqual(expect.arrayContaining(['ann', 'eve']));
    expect(await stream.dead()).toEqual([]);
  });

  test('a fault of ours in one event is that event’s refusal', async () => {
    const stream = openStreamBench(server);
    const applied: string[] = [];
    for (const id of ['m1', 'm2', 'm3', 'm4']) await stream.add(message('c', id));
    const { errors } = stream.consume(async (values) => {
      const ids = values.map((value) => (value as { message_id: string }).message_id);
      if (ids.includes('m3')) throw new TypeError('m3');
      applied.push(...ids);
      return values.map(() => ({ ok: true }));
    });
    await allDone(stream);
    expect(applied).toEqual(['m1', 'm2', 'm4']);
    expect(errors).toHaveLength(5);
    expect((await stream.dead()).map(({ code }) => code)).toEqual(['internal']);
  });
});

describe('a store that is away', () => {
  test.each(['truth', 'state'])(
    '%s: the stream pauses, no delivery counts, and it goes on where it was',
    async (store) => {
      const bench = openServiceBench();
      const stream = openStreamBench(server);
      const metrics = createMetrics();
      let failures = 0;
      const away = async (name: string): Promise<void> => {
        // More often than an entry may be refused.
        if (store !== name || failures >= 7) return;
        failures++;
        throw new Unavailable(`${name} is away`, 1);
      };
      const ids = ['m1', 'm2', 'm3'];
      for (const id of ids) await stream.add(message('c', id));
      const { errors } = stream.consume(
        async (values) => {
          await away('truth');
          return bench.services.post.post(values);
        },
        { metrics, ready: () => away('state') },
      );
      await allDone(stream);
      expect(failures).toBe(7);
      expect(await seqsOf(bench, 'c', ids)).toEqual([1, 2, 3]);
      expect(await stream.dead()).toEqual([]);
      expect(await metrics.render()).toContain('tidemark_stream_pauses_total 7');
      // Told once, not by every try.
      expect(errors).toHaveLength(1);
    },
  );

  test('the streams themselves: they are read on when the server is back', async () => {
    const own = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always']);
    try {
      const bench = openServiceBench();
      const stream = openStreamBench(own);
      const consumer = stream.consume(posting(bench));
      await stream.add(message('c', 'm1'));
      await allDone(stream);
      await own.kill();
      await own.start();
      await stream.add(message('c', 'm2'));
      await allDone(stream);
      expect(await seqsOf(bench, 'c', ['m1', 'm2'])).toEqual([1, 2]);
      await consumer.stop();
    } finally {
      await own.stop();
    }
  });
});

describe('one reader a stream', () => {
  async function hold(stream: StreamBench, conv: string, token: string, leaseMs: number) {
    const link = new StreamLink({ url: server.url, random: systemRandom, onError: () => {} });
    await link.opened();
    const [, partition] = /\{(\d+)\}/.exec(stream.streamOf(conv)) ?? [];
    const keys = streamKeys(stream.prefix, Number(partition));
    return { link, held: new HeldStream({ link, keys, prefix: stream.prefix, token, leaseMs }) };
  }

  test('what an abandoned reader left is applied before anything newer, and that reader cannot settle any more', async () => {
    const bench = openServiceBench();
    const stream = openStreamBench(server);
    for (const id of ['m1', 'm2']) await stream.add(message('c', id));
    const { held, link } = await hold(stream, 'c', 'abandoned', 300);
    // What others left comes first, and is nothing here.
    expect(await held.take([])).toMatchObject({ entries: [], length: 2 });
    expect((await held.take([]))?.entries).toHaveLength(2);
    for (const id of ['m3', 'm4']) await stream.add(message('c', id));
    const order: string[] = [];
    stream.consume(async (values) => {
      order.push(...values.map((value) => (value as { message_id: string }).message_id));
      return bench.services.post.post(values);
    });
    await allDone(stream);
    expect(order).toEqual(['m1', 'm2', 'm3', 'm4']);
    const late = await stream.add({ type: 'message.created', conv: 'c', message_id: 'm5', sender: 7 });
    expect(await held.settle([late], [late])).toBeNull();
    expect(await held.take([])).toBeNull();
    link.close();
  });

  test('a stream that is held is not taken by another, and given back it is at once', async () => {
    const stream = openStreamBench(server);
    const one = await hold(stream, 'c', 'one', 60_000);
    const other = await hold(stream, 'c', 'other', 60_000);
    expect(await one.held.take([])).not.toBeNull();
    expect(await other.held.take([])).toBeNull();
    await other.held.giveBack();
    expect(await other.held.take([])).toBeNull();
    await one.held.giveBack();
    expect(await other.held.take([])).toMatchObject({ entries: [] });
    one.link.close();
    other.link.close();
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
    await expect.poll(async () => Object.keys(await holders()), WITHIN).not.toContain('nobody');
    node('other');
    const convs = Array.from({ length: 24 }, (_, i) => `conv-${i}`);
    const nodesReading = (): Set<string> => new Set([...readBy.values()].flatMap((names) => [...names]));
    let round = 0;
    await expect
      .poll(async () => {
        round++;
        for (const conv of convs) await stream.add(message(conv, `m${round}`));
        await allDone(stream);
        return nodesReading();
      }, WITHIN)
      .toEqual(new Set(['one', 'other']));
    await one.stop();
    readBy.clear();
    for (const conv of convs) await stream.add(message(conv, 'last'));
    await allDone(stream);
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
    await stream.add(message('c', 'm1'));
    const consumer = stream.consume(async (values) => {
      isPosting();
      await answered;
      applied.push(...values);
      return values.map(() => ({ ok: true }));
    });
    await posting;
    const stopped = consumer.stop();
    await stream.add(message('c', 'm2'));
    answer();
    await stopped;
    expect(applied).toHaveLength(1);
    expect(await stream.waiting()).toBe(1);
    expect(await server.admin.exists(`${stream.prefix}:{0}:lease`)).toBe(0);
    expect(consumer.errors).toEqual([]);
  });
});
