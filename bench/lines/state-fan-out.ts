import { type Line, median, ROUNDS } from '../line.ts';
import { NaiveState } from '../naive-state.ts';
import { LINUX, REDIS } from '../need.ts';
import { openBenchRedis, type BenchRedis } from '../redis-server.ts';
import { buildState, usualRow } from '../state-rows.ts';

const USERS = 1000;
const CONVS = 50;
/** Of one round, so that a processor's time can be told in ticks of 10 ms. */
const MESSAGES = 20;
const USERS_A_CALL = 200;
/** A node that runs for days has all of its code compiled; that of a script a user is a few lines, ours are some hundred. */
const WARM_UP_ROUNDS = 6;

interface Spent {
  readonly server: number;
  readonly client: number;
}

const users = Array.from({ length: USERS }, (_, i) => `user-${i}`);
const convs = Array.from({ length: CONVS }, (_, i) => `conv-${i}`);
const rows = convs.map((conv) => usualRow(conv));

/** ARCHITECTURE, truth and state: many users of one call against a script a user. */
export const stateFanOut: Line = line(
  'state: users a core-second of a fan-out',
  'Users that one core of Redis serves in a second: one message to 1,000 members with 50 conversations each, 200 in a call, against one script of several keys a user.',
  { kind: 'at least', bound: 2.5, unit: 'times as many' },
  (ours, naive) => naive.server / ours.server,
  'server',
);

export const stateFanOutClient: Line = line(
  'state: processor of the node in a fan-out',
  'The same, on our side of the connection: packing the calls, reading the answers and making changes of them, against sending scripts and looking at whether each had an effect.',
  { kind: 'at most', bound: 0.25, unit: 'of the baseline' },
  (ours, naive) => ours.client / naive.client,
  'client',
);

function line(
  name: string,
  what: string,
  budget: Line['budget'],
  ratio: (ours: Spent, naive: Spent) => number,
  side: keyof Spent,
): Line {
  return {
    name,
    what,
    budget,
    needs: [LINUX, REDIS],
    async run() {
      const redis = await openBenchRedis();
      const naive = new NaiveState(redis.plain);
      for (const user of users) {
        await buildState(redis.state, user, rows);
        await naive.build(user, convs);
      }
      const ratios: number[] = [];
      const spent: [Spent[], Spent[]] = [[], []];
      let rev = 1;
      for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
        const first = rev;
        const ours = await measured(redis, async () => {
          for (let i = 0; i < MESSAGES; i++) await message(redis, first + i);
        });
        const theirs = await measured(redis, async () => {
          for (let i = 0; i < MESSAGES; i++) await naive.message(users, convs[i % CONVS] as string, first + i);
        });
        rev += MESSAGES;
        if (round < 0) continue;
        ratios.push(ratio(ours, theirs));
        spent[0].push(ours);
        spent[1].push(theirs);
      }
      await redis.close();
      const [ours, theirs] = spent.map((list) => median(list.map((one) => one[side])) / (USERS * MESSAGES));
      const detail = `${microseconds(ours)} a user against ${microseconds(theirs)}`;
      return { value: median(ratios), detail };
    },
  };
}

/** Message n goes to conversation n, round and round; each conversation's revs follow on each other. */
async function message({ state }: BenchRedis, n: number): Promise<void> {
  const conv = convs[n % CONVS] as string;
  const turn = Math.floor((n - 1) / CONVS);
  const part = {
    conv,
    fromRev: 200 + turn,
    toRev: 201 + turn,
    headSeq: 201 + turn,
    activity: 1_700_000_000_000_000 + n,
    messages: [{ seq: 201 + turn, sender: 'somebody', counts: true, mentionAll: false, mentions: [] }],
  };
  const parts = [part];
  for (let i = 0; i < USERS; i += USERS_A_CALL) {
    const calls = users.slice(i, i + USERS_A_CALL).map((user) => ({ user, op: 'message' as const, rows: [], parts }));
    const answers = await state.apply(calls);
    if (answers.some((answer) => answer.kind !== 'applied' || !answer.change))
      throw new Error('a message had no effect');
  }
}

async function measured(redis: BenchRedis, run: () => Promise<void>): Promise<Spent> {
  const server = redis.serverSeconds();
  const client = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(client);
  return { server: redis.serverSeconds() - server, client: (user + system) / 1e6 };
}

function microseconds(seconds = 0): string {
  return `${(seconds * 1e6).toFixed(1)} µs`;
}
