import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Adjustment, Conversation, Membership, Message, RowFacts } from '../../src/core/facts.ts';
import type { MentionSet, Truth, Writes } from '../../src/ports.ts';
import { freshName } from '../support/fresh-name.ts';
import {
  adjustmentFacts,
  conversationFacts,
  membershipFacts,
  messageFacts,
  rowOf,
  store,
} from '../support/truth-facts.ts';

export function truthRows(truth: () => Truth): void {
  describe('what a row is derived from', () => {
    test('in the order asked; without a conversation left out, without a membership empty', async () => {
      const [one, two, user] = [freshName('conv'), freshName('conv'), freshName('user')];
      await store(truth(), {
        conversations: [
          conversationFacts({ conv: one, headSeq: 3, headOrd: 3 }),
          conversationFacts({ conv: two, rev: 8 }),
        ],
        memberships: [membershipFacts({ conv: two, user, rev: 5, muted: true })],
        newMessages: [messageFacts({ conv: one, seq: 3, mentionAll: true })],
        mentions: [{ conv: one, seq: 3, sender: 'somebody', users: [user], all: true }],
        adjustments: [adjustmentFacts({ conv: one, seq: 3, delta: 1, lateNo: 1 })],
      });
      const pairs = [two, 'none', one, two].map((conv) => ({ conv, user }));
      const [first, second, third, ...others] = await truth().rows(pairs);
      expect(others).toEqual([]);
      expect(first).toEqual({
        conversation: conversationFacts({ conv: two, rev: 8 }),
        membership: membershipFacts({ conv: two, user, rev: 5, muted: true }),
        ...NOTHING,
      });
      expect(second).toEqual({
        conversation: conversationFacts({ conv: one, headSeq: 3, headOrd: 3 }),
        membership: membershipFacts({ conv: one, user, member: false, rev: 0 }),
        ...NOTHING,
      });
      expect(third).toEqual(first);
      expect(await truth().rows([])).toEqual([]);
    });

    test("of a user: every conversation, left ones too, and nobody else's", async () => {
      const [here, left, other] = [freshName('conv'), freshName('conv'), freshName('conv')];
      const user = freshName('user');
      await store(truth(), {
        conversations: [here, left, other].map((conv) => conversationFacts({ conv })),
        memberships: [
          membershipFacts({ conv: here, user }),
          membershipFacts({ conv: left, user, member: false, rev: 4 }),
          membershipFacts({ conv: other, user: `${user}0` }),
          membershipFacts({ conv: here, user: `${user}0` }),
        ],
      });
      const rows = await truth().rowsOfUser(user);
      const byConv = new Map(rows.map((row) => [row.conversation.conv, row]));
      expect([...byConv.keys()].toSorted()).toEqual([here, left].toSorted());
      for (const conv of [here, left]) expect(byConv.get(conv)).toEqual(await rowOf(truth(), conv, user));
      expect(byConv.get(left)?.membership).toMatchObject({ member: false, rev: 4 });
      expect(await truth().rowsOfUser(freshName('user'))).toEqual([]);
    });

    test('[CN2][CN6][CN7] a mention counts while its message does, whatever became of it afterwards', async () => {
      const conv = freshName('conv');
      const message = messageFacts({ conv, seq: 4, sender: 'bob' });
      const naming = (users: string[], all = false): MentionSet => ({ conv, seq: 4, sender: 'bob', users, all });
      await store(truth(), {
        conversations: [conversationFacts({ conv, headSeq: 4, headOrd: 1 })],
        memberships: ['ann', 'bob', 'cat'].map((user) => membershipFacts({ conv, user })),
        newMessages: [message],
        mentions: [naming(['ann', 'bob'])],
      });
      const counted = async (): Promise<number[][]> => {
        const rows = await truth().rows(['ann', 'bob', 'cat'].map((user) => ({ conv, user })));
        return rows.map((row) => [row.namedMentions, row.allMentions]);
      };
      const [none, named, all] = [
        [0, 0],
        [1, 0],
        [0, 1],
      ];
      // Never one's own (CN4).
      expect(await counted()).toEqual([named, none, none]);
      await store(truth(), { mentions: [naming(['cat'])] });
      expect(await counted()).toEqual([none, none, named]);
      await store(truth(), { changedMessages: [{ ...message, mentionAll: true }], mentions: [naming(['cat'], true)] });
      expect(await counted()).toEqual([all, none, all]);
      await store(truth(), { changedMessages: [{ ...message, mentionAll: true, recalled: true }] });
      expect(await counted()).toEqual([none, none, none]);
      await store(truth(), { changedMessages: [message] });
      expect(await counted()).toEqual([none, none, named]);
      await store(truth(), { changedMessages: [{ ...message, countable: false }] });
      expect(await counted()).toEqual([none, none, none]);
      await store(truth(), { changedMessages: [message], mentions: [naming([])] });
      expect(await counted()).toEqual([none, none, none]);
    });

    test('[LC6] own messages below a purge are looked up only where the purge is the floor', async () => {
      const conv = freshName('conv');
      await store(truth(), {
        conversations: [conversationFacts({ conv, headSeq: 9, headOrd: 3, purgeSeq: 6, purgeOrd: 2 })],
        newMessages: [2, 5, 9].map((seq, n) => messageFacts({ conv, seq, ord: n + 1, ownOrd: n + 1, sender: 'ann' })),
        memberships: [membershipFacts({ conv, user: 'ann', floorSeq: 5, ownOrd: 3 })],
      });
      expect((await rowOf(truth(), conv, 'ann')).purgeOwn).toBe(2);
      await store(truth(), { memberships: [membershipFacts({ conv, user: 'ann', floorSeq: 6, ownOrd: 3 })] });
      expect((await rowOf(truth(), conv, 'ann')).purgeOwn).toBe(0);
    });

    test('[LC3][LC4] a late message brings back a row that was hidden or cleared before it, above the clear only', async () => {
      const conv = freshName('conv');
      const users = { before: 2, same: 3, after: 4 };
      await store(truth(), {
        conversations: [conversationFacts({ conv, headSeq: 9, headOrd: 5, lateCount: 3 })],
        adjustments: [
          adjustmentFacts({ conv, seq: 4, delta: 1, lateNo: 3 }),
          adjustmentFacts({ conv, seq: 9, delta: -1, lateNo: 0 }),
        ],
        memberships: Object.entries(users).flatMap(([user, late]) => [
          membershipFacts({ conv, user: `${user}-hidden`, hiddenOrd: 5, hiddenLate: late - 1, clearSeq: 3 }),
          membershipFacts({ conv, user: `${user}-away`, awayOrd: 5, awayLate: late - 1, clearSeq: 3 }),
          membershipFacts({ conv, user: `${user}-cleared`, awayOrd: 5, awayLate: late - 1, clearSeq: 4 }),
          membershipFacts({ conv, user: `${user}-shown`, hiddenLate: 0, awayLate: 0 }),
        ]),
      });
      const since = async (user: string): Promise<boolean[]> => {
        const row = await rowOf(truth(), conv, user);
        return [row.lateSinceHidden, row.lateSinceAway];
      };
      for (const [user, late] of Object.entries(users)) {
        const came = late - 1 < 3;
        expect(await since(`${user}-hidden`)).toEqual([came, false]);
        expect(await since(`${user}-away`)).toEqual([false, came]);
        expect(await since(`${user}-cleared`)).toEqual([false, false]);
        // Never hidden or cleared: nothing to come back from.
        expect(await since(`${user}-shown`)).toEqual([false, false]);
      }
    });

    test('whatever the facts are, the sums are those of the rows above the floor', async () => {
      await fc.assert(
        fc.asyncProperty(HISTORY, async (history) => {
          const written = write(freshName('conv'), history);
          for (const writes of written.transactions) await store(truth(), writes);
          const expected = USERS.map((user) => expectedRow(written, user));
          const pairs = USERS.map((user) => ({ conv: written.conversation.conv, user }));
          expect(await truth().rows(pairs)).toEqual(expected);
          expect(await truth().transact(async (tx) => tx.rows(pairs))).toEqual(expected);
        }),
        { numRuns: 40 },
      );
    });
  });
}

const NOTHING = {
  purgeOwn: 0,
  adjustByOthers: 0,
  namedMentions: 0,
  allMentions: 0,
  lateSinceHidden: false,
  lateSinceAway: false,
};

// ------------------------------------------------------------------------------------- any facts, and the sums by looking at all of them

const USERS = ['ann', 'Ann', 'bob'];
const SEQ_MAX = 12;
const seq = fc.integer({ min: 0, max: SEQ_MAX });
const small = fc.integer({ min: -1, max: 4 });

const HISTORY = fc.record({
  messages: fc.uniqueArray(
    fc.record({
      seq: fc.integer({ min: 1, max: SEQ_MAX }),
      sender: fc.constantFrom(...USERS),
      ownOrd: fc.nat(9),
      countable: fc.boolean(),
      recalled: fc.boolean(),
      mentionAll: fc.boolean(),
      mentions: fc.subarray(USERS),
      /** Stored plain first and brought to this by a second transaction. */
      changedLater: fc.boolean(),
      adjustment: fc.option(
        fc.record({ delta: fc.constantFrom(-1 as const, 0 as const, 1 as const), lateNo: fc.nat(4) }),
        { nil: null },
      ),
    }),
    { selector: (message) => message.seq, maxLength: SEQ_MAX },
  ),
  purgeSeq: seq,
  headOrd: fc.nat(4),
  members: fc.tuple(
    ...USERS.map(() =>
      fc.record({ floorSeq: seq, clearSeq: seq, hiddenOrd: small, hiddenLate: small, awayOrd: small, awayLate: small }),
    ),
  ),
});
type History = typeof HISTORY extends fc.Arbitrary<infer T> ? T : never;

interface Written {
  readonly conversation: Conversation;
  readonly memberships: readonly Membership[];
  readonly messages: readonly (Message & { readonly mentions: readonly string[] })[];
  readonly adjustments: readonly Adjustment[];
  readonly transactions: readonly Writes[];
}

function write(conv: string, { messages, purgeSeq, headOrd, members }: History): Written {
  const conversation = conversationFacts({ conv, headSeq: SEQ_MAX, headOrd, purgeSeq });
  const memberships = USERS.map((user, n) => membershipFacts({ conv, user, ...members[n] }));
  const adjustments = messages.flatMap((one) =>
    one.adjustment === null ? [] : [adjustmentFacts({ conv, seq: one.seq, sender: one.sender, ...one.adjustment })],
  );
  const stored = messages.map((one) => {
    const { seq: at, sender, ownOrd, countable, recalled, mentionAll } = one;
    return {
      later: one.changedLater,
      mentions: one.mentions,
      message: messageFacts({ conv, seq: at, sender, ownOrd, countable, recalled, mentionAll }),
    };
  });
  const mentionSet = ({ message, mentions }: (typeof stored)[number]): MentionSet => {
    const { seq: at, sender, mentionAll } = message;
    return { conv, seq: at, sender, users: mentions, all: mentionAll };
  };
  const changed = stored.filter(({ later }) => later);
  return {
    conversation,
    memberships,
    adjustments,
    messages: stored.map(({ message, mentions }) => ({ ...message, mentions })),
    transactions: [
      {
        conversations: [conversation],
        memberships,
        adjustments,
        newMessages: stored.map(({ message, later }) =>
          later ? { ...message, countable: true, recalled: false, mentionAll: false } : message,
        ),
        mentions: stored.filter(({ later }) => !later).map(mentionSet),
      },
      { changedMessages: changed.map(({ message }) => message), mentions: changed.map(mentionSet) },
    ],
  };
}

function expectedRow({ conversation, memberships, messages, adjustments }: Written, user: string): RowFacts {
  const membership = memberships.find((one) => one.user === user)!;
  const floor = Math.max(membership.floorSeq, conversation.purgeSeq);
  const byOthers = messages.filter((one) => one.seq > floor && one.sender !== user && one.countable && !one.recalled);
  const own = messages.filter((one) => one.sender === user && one.seq <= conversation.purgeSeq);
  const last = own.toSorted((a, b) => a.seq - b.seq).at(-1);
  const lateAfter = (lateNo: number): boolean =>
    adjustments.some((one) => one.lateNo > 0 && one.lateNo > lateNo && one.seq > membership.clearSeq);
  return {
    conversation,
    membership,
    purgeOwn: conversation.purgeSeq > membership.floorSeq ? (last?.ownOrd ?? 0) : 0,
    adjustByOthers: adjustments
      .filter((one) => one.seq > floor && one.sender !== user)
      .reduce((sum, { delta }) => sum + delta, 0),
    namedMentions: byOthers.filter((one) => !one.mentionAll && one.mentions.includes(user)).length,
    allMentions: byOthers.filter((one) => one.mentionAll).length,
    lateSinceHidden: membership.hiddenOrd >= 0 && lateAfter(membership.hiddenLate),
    lateSinceAway: membership.awayOrd >= 0 && lateAfter(membership.awayLate),
  };
}
