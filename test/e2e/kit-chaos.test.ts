/**
 * The conformance kit against two nodes behind a balancer, over MariaDB and Redis, while something goes wrong with Redis all the time.
 * Some of its scenarios here; KIT_CHAOS=long plays all of them and drops wake-ups for a minute.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type MariadbServer, startMariadb } from '../../loadtest/mariadb.ts';
import { findKit } from '../../scripts/kit.ts';
import { openBalancer } from '../support/balancer.ts';
import { makeTrouble, type troubles } from '../support/chaos.ts';
import { need, NEED_TIMEOUT_MS } from '../support/debian.ts';
import { runKit } from '../support/kit-run.ts';
import { freshDatabase } from '../support/mysql-database.ts';
import { API_KEY, countedIn, type Product, shownOf, startProduct, TOKEN_SECRET, until } from '../support/product.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { openTcpProxy } from '../support/tcp-proxy.ts';

const isLong = process.env['KIT_CHAOS'] === 'long';
const EVERY_NTH = isLong ? 1 : 5;
const KIT_TIMEOUT_MS = 15 * 60_000;
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

let mariadb: MariadbServer;
beforeAll(async () => {
  const program = await need('mariadb');
  if ('reason' in program) throw new Error(program.reason);
  mariadb = await startMariadb(program.path);
}, NEED_TIMEOUT_MS);
afterAll(() => mariadb?.stop());

/** `redisPort`: where the nodes find Redis. */
async function openNodes(redisPort: number, settings: Record<string, string> = {}): Promise<Product[]> {
  const database = await freshDatabase(mariadb.url);
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
    const play = (files: readonly string[]) =>
      runKit(kit.dir, 'run.mjs', target, ['--timeout', '10000', '--jobs', '8', ...files]);

    const files = scenarioFiles(kit.dir);
    const trouble = makeTrouble(redis, kind, everyMs);
    const outcome = await play(files);
    await trouble.end();
    expect(trouble.hits).toBeGreaterThan(2);
    expect(outcome.passed + outcome.failed).toBe(files.length);
    const reasonOf = (failing: { id: string; why: string }) =>
      excused.find(({ id = failing.id, found }) => id === failing.id && found.test(failing.why))?.why;
    expect(outcome.failing.filter((one) => reasonOf(one) === undefined)).toEqual([]);
    for (const one of outcome.failing) process.stdout.write(`${kind}, ${one.id}: ${reasonOf(one)}\n`);
    process.stdout.write(
      `${kind}: hit ${trouble.hits} times; ${outcome.passed} of ${files.length} as if nothing was\n`,
    );

    // Left alone, each of them finds what it demands.
    const again = files.filter((file) => outcome.failing.some(({ id }) => id === idOf(file)));
    if (again.length === 0) return;
    const alone = await play(again);
    expect(alone, alone.failures).toMatchObject({ code: 0, failed: 0, passed: outcome.failed });
  },
);

function idOf(file: string): unknown {
  return (JSON.parse(readFileSync(file, 'utf8')) as { id: unknown }).id;
}

const SILENT = isLong
  ? { silentMs: 60_000, heartbeatMs: 25_000, rightWithinMs: 30_000 }
  : { silentMs: 5000, heartbeatMs: 4000, rightWithinMs: 9000 };

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

    const signal = AbortSignal.timeout(SILENT.rightWithinMs + 2000);
    for (const { user, client } of devices) {
      await client.waitFor(() => client.pending().length === 0, { signal });
      const counted = JSON.stringify(countedIn(await here.unread(user)));
      await client.waitFor(() => JSON.stringify(shownOf(client)) === counted, { signal });
    }
  },
);
