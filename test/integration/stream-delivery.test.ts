import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Unavailable } from '../../src/errors.ts';
import { createMetrics } from '../../src/metrics.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { startApp } from '../support/running-app.ts';
import { openServiceBench } from '../support/service-bench.ts';
import { openStreamBench, posting, seqsOf, streamMessage, OFTEN } from '../support/stream-bench.ts';

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(async () => {
  await server.stop();
});

describe('events from streams', () => {
  test('are applied in the order of their stream, and leave it when they are durable', async () => {
    const bench = openServiceBench();
    const stream = openStreamBench(server);
    const ids = Array.from({ length: 600 }, (_, i) => `m${i}`);
    for (const id of ids) await stream.add(streamMessage('c', id));
    stream.consume(posting(bench));
    await stream.allDone();
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
    await stream.allDone();
    expect(seen).toEqual([
      { type: 'member.left', conv: 'c', users: ['u'], event_id: `${stream.streamOf('c')}:${own}` },
      { type: 'member.left', conv: 'c', users: ['u'], event_id: 'mine' },
    ]);
  });

  test('[DT3] duplicates count once: two entries of one message, and one entry applied twice', async () => {
    const bench = openServiceBench();
    const stream = openStreamBench(server);
    await stream.add(streamMessage('c', 'm1'));
    await stream.add(streamMessage('c', 'm1'));
    await stream.add({ type: 'member.joined', conv: 'c', users: ['eve'] });
    await stream.add({ type: 'member.left', conv: 'c', users: ['eve'] });
    let posts = 0;
    stream.consume(async (values) => {
      const results = await bench.services.post.post(values);
      // The answer is lost after the commit.
      if (posts++ === 0) throw new Unavailable('no answer', 1);
      return results;
    });
    await stream.allDone();
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
    await running.post(streamMessage('c', 'm1'));
    await stream.add(streamMessage('c', 'm1'));
    await stream.add(streamMessage('c', 'm2'));
    await stream.allDone();
    expect((await running.call('GET', '/v1/users/ann/unread')).body).toMatchObject({ total: 2 });
    const text = async () => (await running.call('GET', '/metrics')).body['text'];
    expect(await text()).toContain('tidemark_events_total{type="message.created",result="duplicate"} 1');
    // The reader hears of it when it asks for more.
    const [, partition] = /\{(\d)\}/.exec(stream.streamOf('c')) ?? [];
    await expect.poll(text, OFTEN).toContain(`tidemark_stream_waiting_entries{stream="${partition}"} 0\n`);
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
    await stream.add(streamMessage('c', 'm1'));
    const poison = await stream.add({ type: 'message.created', conv: 'c', message_id: 'm2', sender: 7 });
    await stream.add(streamMessage('c', 'm3'));
    const deliveries: number[] = [];
    stream.consume(
      async (values) => {
        deliveries.push(values.filter((value) => (value as { message_id: string }).message_id === 'm2').length);
        return bench.services.post.post(values);
      },
      { metrics },
    );
    await stream.allDone();
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
    await stream.add(streamMessage('c', 'm1'));
    stream.consume(posting(bench));
    await stream.allDone();
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
    await stream.allDone();
    expect(await bench.truth.membersOf('c')).toEqual(expect.arrayContaining(['ann', 'eve']));
    expect(await stream.dead()).toEqual([]);
  });

  test('[OR1] a fault of ours in one event is that event’s refusal', async () => {
    const stream = openStreamBench(server);
    const applied: string[] = [];
    for (const id of ['m1', 'm2', 'm3', 'm4']) await stream.add(streamMessage('c', id));
    const { errors } = stream.consume(async (values) => {
      const ids = values.map((value) => (value as { message_id: string }).message_id);
      if (ids.includes('m3')) throw new TypeError('m3');
      applied.push(...ids);
      return values.map(() => ({ ok: true }));
    });
    await stream.allDone();
    expect(applied).toEqual(['m1', 'm2', 'm4']);
    expect(errors).toHaveLength(5);
    expect((await stream.dead()).map(({ code }) => code)).toEqual(['internal']);
  });
});

describe('a store that is away', () => {
  test.each(['truth', 'state'])(
    '[OR1] %s: the stream pauses, no delivery counts, and it goes on where it was',
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
      for (const id of ids) await stream.add(streamMessage('c', id));
      const { errors } = stream.consume(
        async (values) => {
          await away('truth');
          return bench.services.post.post(values);
        },
        { metrics, ready: () => away('state') },
      );
      await stream.allDone();
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
      // The hold is kept with the stream, and nobody could give it back: it has to run out.
      const consumer = stream.consume(posting(bench), { leaseMs: 1000 });
      await stream.add(streamMessage('c', 'm1'));
      await stream.allDone();
      await own.kill();
      await own.start();
      await stream.add(streamMessage('c', 'm2'));
      await stream.allDone();
      expect(await seqsOf(bench, 'c', ['m1', 'm2'])).toEqual([1, 2]);
      await consumer.stop();
    } finally {
      await own.stop();
    }
  });
});
