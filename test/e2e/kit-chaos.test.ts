/**
 * The conformance kit against two nodes behind a balancer, over MariaDB and Redis, while something goes wrong with Redis all the time.
 * Some of its scenarios here; KIT_CHAOS=long plays all of them and drops wake-ups for a minute.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { findKit } from '../../scripts/kit.ts';
import { openBalancer } from '../support/balancer.ts';
import { makeTrouble, type troubles } from '../support/chaos.ts';
import { type KitOutcome, runKit } from '../support/kit-run.ts';
import { freshDatabase } from '../support/mysql-database.ts';
import { API_KEY, countedIn, type Product, shownOf, startProduct, TOKEN_SECRET, until } from '../support/product.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { sharedMariadb } from '../support/shared-mariadb.ts';
import { openTcpProxy } from '../support/tcp-proxy.ts';

const isLong = process.env['KIT_CHAOS'] === 'long';
const EVERY_NTH = isLong ? 1 : 5;
const KIT_TIMEOUT_MS = 15 * 60_000;
/** A bound on a hang: what is awaited in vain is a fault, however long. */
const ANSWER_MS_MAX = '20000';
const kit = findKit();

interface Excuse {
  /** Of this scenario alone. */
  readonly id?: string;
  readonly found: RegExp;
  readonly why: string;
}

interface Chaos {
  readonly kind: keyof typeof troubles;
  readonly everyMs: number;
  /**
   * What a scenario may find else than it demands, and why that is right. The kit checks every frame up to there and stops; a scenario
   * that goes on to its end closes with a comparison of devices, GET unread, batchGet and reconcile.
   */
  readonly excused: readonly Excuse[];
}

const NEW_EPOCH = 'SY10: a state that is lost is built under a new epoch, and who was at the old one gets a snapshot';
const OLD_SOCKET: Excuse = {
  found: /the old socket stays open/,
  why: 'who came later elsewhere was a hint that was lost; both sockets are right',
};
/**
 * DT8: what cannot be answered in time is told when to come back. There the kit gives up, so its scenario is played again. Only its
 * commands it sends again itself; the first may have been carried out, and then an ack is stale, and a mark without a read_epoch another.
 */
const COME_AGAIN = [
  /"unavailable"|got +503|socket closed with 4102/,
  /: status of .*\n +expected applied\n +got +stale/,
  /\n +expected .*"epoch":1\}\n +got +.* read 2\//,
];
/** Scenarios at once: of all, and of those that come back; the last time they are to come through. */
const JOBS = [8, 2, 1];

const CHAOS: readonly Chaos[] = [
  {
    kind: 'evict',
    everyMs: 25,
    excused: [
      { found: /mode of the answer \[SY2\]\n +expected (noop|delta)\n +got +snapshot epoch/, why: NEW_EPOCH },
      {
        found: /v1\/sync.*\.(mode|reason)\n +expected (noop|delta|ahead)\n +got +(snapshot|noop|epoch)\n/,
        why: `${NEW_EPOCH}, in which versions begin anew`,
      },
      { found: /reason of the snapshot \[SY2\]\n.*\n +got +epoch/, why: NEW_EPOCH },
      { found: /a snapshot nobody asked for/, why: NEW_EPOCH },
      { found: /http: GET \/v1\/sync.*\n +expected 304\n +got +200 .*"reason":"epoch"/, why: NEW_EPOCH },
      { found: /expected tombstone\n +got +no row/, why: `${NEW_EPOCH}, which lists no tombstones` },
      { found: /number of delta frames\n +expected \d\n +got +0/, why: `${NEW_EPOCH} instead of a delta` },
      { found: /sync_version rises by exactly \[SY1\]/, why: `${NEW_EPOCH}, in which versions begin anew` },
      // Of a row, or of a pull: a version by itself is no number that anybody is shown.
      {
        found: /(: version|\.sync_version)\n +expected \d+\n +got +\d+\n/,
        why: `${NEW_EPOCH}, in which versions begin anew`,
      },
      {
        id: 'W28',
        found: /expected \{"unread":5,"mentions":3\}\n +got +unread 0/,
        why: 'it names a version of the epoch before with the present epoch, which no client does: it holds both together',
      },
      { found: /read_all answered by an error\n.*\n.*"stale_cursor"/, why: 'AK8: a foreign epoch is refused' },
    ],
  },
  {
    kind: 'cut',
    everyMs: 300,
    excused: [
      OLD_SOCKET,
      {
        found:
          /v1\/sync.*(\.(mode|reason)\n +expected (noop|delta|ahead)\n +got +(snapshot|epoch)\n|\n +expected 304\n +got +200)/,
        why: 'DT8: while the state is away a pull is answered from truth, under an epoch used once',
      },
      {
        found: /v1\/sync: \.sync_version\n +expected \d+\n +got +1\n/,
        why: 'DT8: the first version of the epoch used once, under which a pull is answered from truth',
      },
      {
        found: /mode of the answer \[SY2\]\n +expected delta\n +got +noop/,
        why: 'what was accepted is durable and waits for its way into the state: the delta follows the welcome',
      },
    ],
  },
  {
    kind: 'deafen',
    everyMs: 250,
    excused: [OLD_SOCKET],
  },
];

/** `redisPort`: where the nodes find Redis. */
async function openNodes(redisPort: number, settings: Record<string, string> = {}): Promise<Product[]> {
  const database = await sharedMariadb().then(freshDatabase);
  const stores = { TIDEMARK_MYSQL_URL: database.url, TIDEMARK_REDIS_URL: `redis://127.0.0.1:${redisPort}` };
  const nodes = [await startProduct({ ...stores, ...settings }), await startProduct({ ...stores, ...settings })];
  onTestFinished(async () => {
    for (const node of nodes) await node.kill();
    await database.drop();
  });
  return nodes;
}

async function openRedis(): Promise<RedisServer> {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  return redis;
}

function scenarioFiles(dir: string): string[] {
  const folder = join(dir, 'scenarios');
  const files = readdirSync(folder)
    .toSorted()
    .map((file) => join(folder, file));
  return files.filter((_, i) => i % EVERY_NTH === 0);
}

test.for(CHAOS)(
  '[SY1][SY10][CN9] the kit while Redis suffers: $kind',
  { timeout: KIT_TIMEOUT_MS },
  async ({ kind, everyMs, excused }, { skip }) => {
    if ('reason' in kit) return skip(kit.reason);
    const redis = await openRedis();
    const nodes = await openNodes(redis.port);
    const balancer = await openBalancer(nodes.map(({ url }) => url));
    onTestFinished(() => balancer.close());
    const target = { url: balancer.url, apiKey: API_KEY, tokenSecret: TOKEN_SECRET };
    const play = (files: readonly string[], jobs: number) =>
      runKit(kit.dir, 'run.mjs', target, ['--timeout', ANSWER_MS_MAX, '--jobs', String(jobs), ...files]);

    const files = scenarioFiles(kit.dir);
    const filesOf = (some: readonly { id: string }[]) =>
      files.filter((file) => some.some(({ id }) => id === idOf(file)));
    const trouble = makeTrouble(redis, kind, everyMs);
    onTestFinished(() => trouble.end());
    const failing: KitOutcome['failing'][number][] = [];
    let due: readonly string[] = files;
    for (const jobs of JOBS) {
      const outcome = await play(due, jobs);
      expect(outcome.passed + outcome.failed).toBe(due.length);
      const comesAgain = outcome.failing.filter(({ why }) => jobs > 1 && COME_AGAIN.some((told) => told.test(why)));
      failing.push(...outcome.failing.filter((one) => !comesAgain.includes(one)));
      due = filesOf(comesAgain);
      if (due.length === 0) break;
      process.stdout.write(`${kind}: ${due.length} were told to come again\n`);
    }
    await trouble.end();
    expect(trouble.hits).toBeGreaterThan(2);
    const reasonOf = (one: { id: string; why: string }) =>
      excused.find(({ id = one.id, found }) => id === one.id && found.test(one.why))?.why;
    expect(failing.filter((one) => reasonOf(one) === undefined)).toEqual([]);
    for (const one of failing) process.stdout.write(`${kind}, ${one.id}: ${reasonOf(one)}\n`);
    process.stdout.write(
      `${kind}: hit ${trouble.hits} times; ${files.length - failing.length} of ${files.length} as if nothing was\n`,
    );

    // Left alone, each of them finds what it demands.
    if (failing.length === 0) return;
    const alone = await play(filesOf(failing), 1);
    expect(alone, alone.failures).toMatchObject({ code: 0, failed: 0, passed: failing.length });
  },
);

function idOf(file: string): unknown {
  return (JSON.parse(readFileSync(file, 'utf8')) as { id: unknown }).id;
}

const SILENT = isLong
  ? { silentMs: 60_000, heartbeatMs: 25_000, rightWithinMs: 30_000 }
  : { silentMs: 5000, heartbeatMs: 4000, rightWithinMs: 9000 };

/** For a machine that has other things to do. */
const BUSY_MS = 10_000;

test(
  '[AK5][SY4][SY10] wake-ups vanish without a sign: every device is right within a heartbeat period of their return',
  { timeout: KIT_TIMEOUT_MS },
  async () => {
    const redis = await openRedis();
    const proxy = await openTcpProxy(redis.port);
    onTestFinished(() => proxy.close());
    const [here, there] = (await openNodes(proxy.port, { TIDEMARK_HEARTBEAT_MS: String(SILENT.heartbeatMs) })) as [
      Product,
      Product,
    ];
    const users = Array.from({ length: 20 }, (_, i) => `user-${i}`);
    const message = (n: number) => ({
      type: 'message.created',
      conv: `c-${n % 5}`,
      message_id: `m${n}`,
      sender: 'bob',
    });
    await here.post(...[0, 1, 2, 3, 4].map((n) => ({ ...message(n), members: users })));
    const devices = users.flatMap((user) =>
      [here, there].map((node, i) => ({ user, client: node.client(user, { device: `device-of-${i}` }) })),
    );
    for (const { client } of devices) await until(client, () => client.total() === 5);

    let vanished = 0;
    proxy.swallows = (bytes) => {
      const isWakeup = bytes.includes('smessage');
      if (isWakeup) vanished++;
      return isWakeup;
    };
    const endMs = performance.now() + SILENT.silentMs;
    for (let n = 5; performance.now() < endMs; n++) {
      await (n % 2 === 0 ? here : there).post(message(n));
      const { client } = devices[n % devices.length]!;
      client.markRead(`c-${n % 5}`);
      await sleep(50);
    }
    proxy.swallows = () => false;
    expect(vanished).toBeGreaterThan(10);

    const returnedMs = performance.now();
    for (const { user, client } of devices) {
      // Counted anew at each look: the other device of the user may have read something meanwhile.
      const difference = async () => {
        const counted = countedIn(await here.unread(user));
        const shown = shownOf(client);
        const pending = client.pending();
        return pending.length === 0 && isDeepStrictEqual(shown, counted) ? null : { pending, shown, counted };
      };
      const leftMs = returnedMs + SILENT.rightWithinMs + BUSY_MS - performance.now();
      await expect.poll(difference, { timeout: Math.max(0, leftMs) }).toBeNull();
    }
  },
);
