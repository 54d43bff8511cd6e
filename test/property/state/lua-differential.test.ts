import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Op } from '../../../protocol/index.ts';
import type { ConversationPart, StateCall } from '../../../src/core/change-set.ts';
import type { DerivedRow } from '../../../src/core/row.ts';
import { buildUserState, headOf, offer, type StateRow, type UserState } from '../../../src/core/user-state.ts';
import type { StateAnswer, StateStore } from '../../../src/ports.ts';
import { ANY_NODE } from '../../../src/state/redis/packed-answer.ts';
import { minuteOf, packMeta } from '../../../src/state/redis/packed-meta.ts';
import { packRow } from '../../../src/state/redis/packed-row.ts';
import { partitionOf, userKey } from '../../../src/state/redis/partitions.ts';
import { MemoryFences } from '../../support/memory-fences.ts';
import { openRedisNode, type RedisNode } from '../../support/redis-node.ts';
import { type RedisServer, startRedis } from '../../support/redis.ts';
import { systemClock } from '../../../src/system.ts';

/**
 * The script and the core, offered the same: they answer the same, and afterwards the store holds, byte for byte, what the core holds.
 */
const CONVS = ['a', 'b', 'c', '会话|"', 'x'.repeat(128)];
const OPS: Op[] = ['message', 'read', 'merged'];
const USERS = 3;
const MANY = Array.from({ length: 1400 }, (_, i) => `c${i}`);

/** Where a packed number takes more bytes, and the largest of all. Sums of them stay exact. */
const edge = (...places: number[]) => fc.constantFrom(...places.flatMap((place) => [place - 1, place, place + 1]));
const small = fc.nat({ max: 4 });
const rev = fc.oneof({ weight: 12, arbitrary: small }, { weight: 1, arbitrary: edge(2 ** 24, 2 ** 53 - 2) });
const seq = fc.oneof({ weight: 8, arbitrary: small }, { weight: 1, arbitrary: edge(2 ** 24, 2 ** 32, 2 ** 53 - 2) });
const count = fc.oneof(
  { weight: 8, arbitrary: small },
  { weight: 2, arbitrary: edge(999, 1000) },
  { weight: 1, arbitrary: edge(256, 2 ** 16, 2 ** 24, 2 ** 32, 2 ** 49) },
);
const flag = (weight: number) =>
  fc.oneof({ weight, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) });
const user = fc.nat({ max: USERS - 1 });
const conv = fc.constantFrom(...CONVS);

const anyRow: fc.Arbitrary<DerivedRow> = fc.record({
  conv,
  convRev: rev,
  memberRev: rev,
  member: flag(4).map((is) => !is),
  unread: count,
  mentions: count,
  readSeq: seq,
  readEpoch: fc.oneof({ weight: 8, arbitrary: small }, { weight: 1, arbitrary: edge(256, 2 ** 24, 2 ** 53 - 2) }),
  floorSeq: seq,
  headSeq: seq,
  muted: flag(3),
  marked: flag(3),
  hidden: flag(3),
  away: flag(5),
  large: flag(2),
  activity: fc.oneof(small, edge(2 ** 51)),
  othersEver: count,
});
/** Rows that differ from each other in a field or two, apart from their revs. */
const alikeRow = fc
  .tuple(anyRow, fc.subarray(['unread', 'mentions', 'othersEver', 'muted', 'readSeq'] as const))
  .map(([one, changed]): DerivedRow => {
    const usual = { ...zeroRow(one.conv), unread: 3, othersEver: 5 };
    const { version: _v, latestActivity: _l, digest: _d, ...rest } = usual;
    const { convRev, memberRev } = one;
    return { ...rest, convRev, memberRev, ...Object.fromEntries(changed.map((name) => [name, one[name]])) };
  });
const row = fc.oneof(anyRow, alikeRow);
const part: fc.Arbitrary<ConversationPart> = fc
  .record({
    conv,
    fromRev: fc.oneof({ weight: 6, arbitrary: rev }, { weight: 1, arbitrary: fc.constant(-1) }),
    grows: fc.integer({ min: 1, max: 2 }),
    headSeq: seq,
    activity: small,
    unlessLarge: fc.option(fc.boolean(), { nil: undefined }),
    messages: fc.array(
      fc.record({
        seq: small,
        sender: user.map(nameOf),
        counts: fc.boolean(),
        mentionAll: flag(3),
        mentions: fc.array(user.map(nameOf), { maxLength: 3 }),
      }),
      { maxLength: 4 },
    ),
  })
  .map(({ grows, unlessLarge, ...rest }) => ({
    ...rest,
    toRev: Math.min(rest.fromRev + grows, Number.MAX_SAFE_INTEGER),
    ...(unlessLarge === undefined ? {} : { unlessLarge }),
  }));
const call = fc.record({
  user,
  op: fc.constantFrom(...OPS),
  rows: fc.array(row, { maxLength: 4 }),
  parts: fc.array(part, { maxLength: 4 }),
  repairs: fc.option(fc.constantFrom('here', 'elsewhere'), { nil: undefined, freq: 4 }),
});
const history = fc.record({
  built: fc.array(fc.uniqueArray(row, { maxLength: 5, selector: (one) => one.conv }), {
    minLength: USERS,
    maxLength: USERS,
  }),
  batches: fc.array(fc.array(call, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 12 }),
});
/** Numbers at the borders of what the script takes for usual, and one conversation beside that makes the sums large. */
const nearly = (border: number) =>
  fc.oneof({ weight: 3, arbitrary: small }, { weight: 1, arbitrary: fc.integer({ min: border - 3, max: border }) });
const usualRow = fc
  .record({
    convRev: nearly(2 ** 24 - 1),
    unread: nearly(2 ** 24 - 1),
    mentions: nearly(2 ** 16 - 1),
    othersEver: nearly(2 ** 24 - 1),
    headSeq: nearly(2 ** 24 - 1),
    readSeq: small,
    readEpoch: nearly(255),
    muted: flag(2),
    marked: flag(2),
    hidden: flag(12),
    away: flag(12),
    large: flag(12),
    member: flag(20).map((is) => !is),
  })
  .map((one): DerivedRow => {
    const { version: _v, latestActivity: _l, digest: _d, ...rest } = { ...zeroRow('a'), ...one };
    return { ...rest, floorSeq: one.readSeq };
  });
const beside = nearly(2 ** 32 - 1).map((unread): DerivedRow => {
  const { version: _v, latestActivity: _l, digest: _d, ...rest } = zeroRow('b');
  return { ...rest, unread, mentions: 0 };
});
/** By how much the part goes beyond where it starts; it starts where the row stands, or not quite. */
const following = fc.array(
  fc.record({ part, off: fc.constantFrom(0, 0, 0, 0, 0, 1, -1), by: fc.constantFrom(1, 1, 1, 1, 2, 0, -1) }),
  {
    minLength: 1,
    maxLength: 12,
  },
);
type History = typeof history extends fc.Arbitrary<infer T> ? T : never;

let server: RedisServer;
let node: RedisNode;
let runs = 0;

beforeAll(async () => {
  server = await startRedis();
  node = await openRedisNode(server.url, new MemoryFences());
});
afterAll(async () => {
  await node.close();
  await server.stop();
});

function nameOf(number: number): string {
  return `user-${number}`;
}

async function build(state: StateStore, name: string, rows: readonly DerivedRow[]): Promise<UserState> {
  await state.beginBuild(name, 'token', 0);
  expect(await state.completeBuild(name, 'token', 'epoch', rows)).toEqual({ stored: true, dirty: [] });
  return buildUserState(name, 'epoch', rows);
}

function expected(state: UserState, one: StateCall): StateAnswer {
  const { change, derive } = offer(state, one);
  return { kind: 'applied', head: change ?? headOf(state), change, derive };
}

/** What the store holds of the user, byte for byte; the nodes aside, of which the core knows nothing. */
async function expectHeld(state: UserState): Promise<void> {
  const key = userKey(partitionOf(state.user), state.user);
  const flat = (await server.admin.callBuffer('HGETALL', key)) as Map<Buffer, Buffer> | Buffer[];
  const held = new Map<string, string>();
  const list = Array.isArray(flat) ? flat : [...flat].flat();
  for (let i = 0; i < list.length; i += 2) held.set(list[i]!.toString('latin1'), list[i + 1]!.toString('hex'));
  const large = [...state.rows.values()].filter((one) => one.large && one.member).map((one) => one.conv);
  const names = Buffer.from(held.get('\xff') ?? '', 'hex');
  expect(namesIn(names).toSorted()).toEqual(large.toSorted());
  held.delete('\xff');
  const nodes = [{ id: ANY_NODE, minute: minuteOf(systemClock.nowMs()) }];
  const meta = packMeta(state, 1, nodes).toString('hex');
  // The minute, at the end, may have passed.
  expect(held.get('')?.slice(0, -4)).toBe(meta.slice(0, -4));
  held.delete('');
  const rows = [...state.rows.values()].map((one) => [latin1(one.conv), packRow(one).toString('hex')] as const);
  expect(new Map([...held].toSorted(byName))).toEqual(new Map(rows.toSorted(byName)));
}

function byName([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : 1;
}

function latin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function namesIn(bytes: Buffer): string[] {
  const names: string[] = [];
  for (let at = 0; at < bytes.length; at += 1 + bytes[at]!)
    names.push(bytes.toString('utf8', at + 1, at + 1 + bytes[at]!));
  return names;
}

/** What the core has of an answer too: which nodes are told is the adapter's affair. The order within a change set means nothing. */
function plain(answer: StateAnswer): StateAnswer {
  if (answer.kind !== 'applied') return answer;
  const derive = answer.derive.toSorted();
  if (!answer.change) return { ...answer, derive };
  const { nodes: _, rows, ...stands } = answer.change;
  const change = { ...stands, rows: rows.toSorted((a, b) => (a.conv < b.conv ? -1 : 1)) };
  return { ...answer, derive, head: change, change };
}

async function runBoth({ built, batches }: History): Promise<void> {
  // Fresh names, but ones that the generated messages can name: the number of the run stands in the key alone.
  const prefix = `run-${runs++}-`;
  const states: UserState[] = [];
  for (const [i, rows] of built.entries()) states.push(await build(node.state, prefix + nameOf(i), rows));
  for (const batch of batches) {
    const calls = batch.map(({ user: number, repairs, ...rest }): StateCall => {
      const state = states[number]!;
      const parts = rest.parts.map((one) => ({
        ...one,
        messages: one.messages.map((message) => ({
          ...message,
          sender: prefix + message.sender,
          mentions: message.mentions.map((name) => prefix + name),
        })),
      }));
      const place = { epoch: 'epoch', syncVersion: state.syncVersion + (repairs === 'here' ? 0 : 1) };
      return { ...rest, parts, user: state.user, ...(repairs === undefined ? {} : { repairAt: place }) };
    });
    const answers = await node.state.apply(calls);
    calls.forEach((one, i) => {
      expect(plain(answers[i]!)).toEqual(plain(expected(states[batch[i]!.user]!, one)));
    });
  }
  for (const state of states) await expectHeld(state);
}

describe('the script apply.lua and src/core/user-state.ts', () => {
  test('[CN9][SY1][SY8][SY9] answer the same to any calls, and hold the same afterwards', async () => {
    await fc.assert(fc.asyncProperty(history, runBoth), { numRuns: 400 });
  });

  test('[CN1][CN9][SY8] answer the same to messages that follow on each other, one by one', async () => {
    const run = async (
      rows: readonly DerivedRow[],
      steps: readonly { part: ConversationPart; off: number; by: number }[],
    ) => {
      const name = `follower-${runs++}`;
      const state = await build(node.state, name, rows);
      for (const { part: one, off, by } of steps) {
        const fromRev = state.rows.get('a')!.convRev + off;
        const messages = one.messages.map((message) => ({
          ...message,
          mentions: message.mentions.length > 1 ? [name] : [],
        }));
        const parts = [{ ...one, conv: 'a', fromRev, toRev: fromRev + by, messages }];
        const call_: StateCall = { user: name, op: 'message', rows: [], parts };
        const [answer] = await node.state.apply([call_]);
        expect(plain(answer!)).toEqual(plain(expected(state, call_)));
      }
      await expectHeld(state);
    };
    await fc.assert(
      fc.asyncProperty(usualRow, beside, following, async (one, other, steps) => run([one, other], steps)),
      { numRuns: 500 },
    );
  });

  /** Each list of conversations leaves, or comes back, at once. */
  async function leaveAndCompare(steps: readonly { convs: readonly string[]; member: boolean }[]): Promise<void> {
    const name = `leaver-${runs++}`;
    const rowOf = (c: string, memberRev: number, member: boolean): DerivedRow => ({ ...zeroRow(c), memberRev, member });
    const state = await build(
      node.state,
      name,
      MANY.map((c) => rowOf(c, 1, true)),
    );
    const calls = steps.map(({ convs, member }, i): StateCall => {
      const rows = convs.map((c) => rowOf(c, i + 2, member));
      return { user: name, op: 'leave', rows, parts: [] };
    });
    const answers = await node.state.apply(calls);
    calls.forEach((one, i) => expect(plain(answers[i]!)).toEqual(plain(expected(state, one))));
    await expectHeld(state);
  }

  test('[SY2][LC2] drop the same tombstones, one by one', async () => {
    await leaveAndCompare(MANY.map((c) => ({ convs: [c], member: false })));
  });

  test('[SY2][LC2] drop the same tombstones, some of which come back', async () => {
    const step = fc
      .record({ from: fc.nat({ max: MANY.length }), length: fc.integer({ min: 1, max: 90 }), member: flag(6) })
      .map(({ from, length, member }) => ({ convs: MANY.slice(from, from + length), member }));
    const leaving = fc.array(step, { minLength: 30, maxLength: 60, size: 'max' });
    await fc.assert(fc.asyncProperty(leaving, leaveAndCompare), { numRuns: 12 });
  });
});

function zeroRow(name: string): StateRow {
  const numbers = {
    convRev: 1,
    memberRev: 1,
    unread: 1,
    mentions: 0,
    readSeq: 0,
    readEpoch: 0,
    floorSeq: 0,
    headSeq: 1,
  };
  const flags = { member: true, muted: false, marked: false, hidden: false, away: false, large: false };
  return { conv: name, ...numbers, ...flags, activity: 1, othersEver: 1, version: 0, latestActivity: 1, digest: 0 };
}
