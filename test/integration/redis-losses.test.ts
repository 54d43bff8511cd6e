import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Unavailable } from '../../src/errors.ts';
import { openRedisInstallation, type RedisInstallation } from '../support/redis-installation.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';

/** ARCHITECTURE: what the store loses or cuts off while two nodes work on it shows in no number and in no version. */
const USERS = Array.from({ length: 60 }, (_, i) => `user-${i}`);
const CONVS = Array.from({ length: 30 }, (_, i) => `conv-${i}`);
/** The first few conversations are large (CN8). */
const LARGE = 3;
const STEPS = 400;
const RETRY_MS = 10;

async function open(options: readonly string[] = []) {
  const redis = await startRedis(options);
  const installation = await openRedisInstallation(redis.url);
  onTestFinished(async () => {
    await installation.close();
    await redis.stop();
  });
  const events = CONVS.map((conv, i) => ({
    type: 'conversation.created',
    conv,
    members: i < LARGE ? USERS : USERS.filter((_, n) => n % 10 === i % 10),
  }));
  await installation.nodes[0].services.post.post(events);
  return { redis, installation };
}

/** Messages, acks and looks of many users on both nodes at once, as long as something goes wrong beside them. */
async function work({ nodes }: RedisInstallation): Promise<void> {
  let steps = 0;
  const worker = async (number: number): Promise<void> => {
    while (steps++ < STEPS) {
      const { services } = nodes[steps % 2]!;
      const conv = CONVS[(steps * 7 + number) % CONVS.length]!;
      const user = USERS[(steps * 13 + number) % USERS.length]!;
      const id = `${number}-${steps}`;
      const mentions = steps % 5 === 0 ? [USERS[steps % USERS.length]!] : [];
      const [result] = await services.post.post([
        { type: 'message.created', conv, message_id: id, sender: user, mentions },
      ]);
      expect(result?.ok).toBe(true);
      // An ack is durable, and a look is possible, at the latest when the store is back.
      if (steps % 3 === 0) await again(() => services.commands.ack(user, [{ conv, seq: steps }]));
      if (steps % 4 === 0) await again(() => services.sync.view(USERS[(steps * 17) % USERS.length]!));
    }
  };
  await Promise.all(Array.from({ length: 8 }, async (_, number) => worker(number)));
}

async function again<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      await sleep(RETRY_MS);
    }
  }
}

/** Does it again and again until the work is done; answers how often. */
async function during(work: Promise<void>, everyMs: number, trouble: () => Promise<unknown>): Promise<number> {
  let isDone = false;
  const ended = work.finally(() => {
    isDone = true;
  });
  let times = 0;
  while (!isDone) {
    await trouble();
    times++;
    await Promise.race([ended, sleep(everyMs)]);
  }
  await ended;
  return times;
}

async function evictedKeys({ admin }: RedisServer): Promise<number> {
  return Number(/evicted_keys:(\d+)/.exec(await admin.info('stats'))?.[1]);
}

describe('two nodes at work', () => {
  test('[SY1][SY10][CN9] while all keys are lost again and again', async () => {
    const { redis, installation } = await open();
    const times = await during(work(installation), 100, () => redis.admin.flushall());
    expect(times).toBeGreaterThan(2);
    await installation.settle();
    await installation.expectTruth(USERS);
    expect(installation.bugs).toEqual([]);
  });

  test('[SY1][SY10][CN9] while the store runs short of memory and evicts keys all the time', async () => {
    const { redis, installation } = await open();
    for (const user of USERS) await installation.nodes[0].services.sync.view(user);
    // Room for what the server needs for itself, and for some of the users.
    const used = Number(/used_memory:(\d+)/.exec(await redis.admin.info('memory'))?.[1]);
    await redis.admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    const working = work(installation);
    const squeezed = await during(working, 50, async () => {
      await redis.admin.config('SET', 'maxmemory', used);
      await redis.admin.config('SET', 'maxmemory', used + 400_000);
    });
    expect(squeezed).toBeGreaterThan(2);
    expect(await evictedKeys(redis)).toBeGreaterThan(30);
    await redis.admin.config('SET', 'maxmemory', 0);
    await installation.settle();
    await installation.expectTruth(USERS);
    expect(installation.bugs).toEqual([]);
  });

  test('[SY1][SY10][CN9] while their connections are cut, those of the wake-up too', async () => {
    const { redis, installation } = await open();
    const times = await during(work(installation), 200, async () => {
      await redis.admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await redis.admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub', 'SKIPME', 'yes');
    });
    expect(times).toBeGreaterThan(2);
    await installation.settle();
    await installation.expectTruth(USERS);
    expect(installation.bugs).toEqual([]);
  });
});
