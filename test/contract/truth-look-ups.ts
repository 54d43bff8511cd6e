import { describe, expect, test } from 'vitest';
import type { Message } from '../../src/core/facts.ts';
import type { Truth } from '../../src/ports.ts';
import { freshName } from '../support/fresh-name.ts';
import { adjustmentFacts, conversationFacts, membershipFacts, messageFacts, store } from '../support/truth-facts.ts';

export function truthLookUps(truth: () => Truth): void {
  describe('places', () => {
    test('a place has the ordinal of the last message at or below it', async () => {
      const { convs, conv } = await withHoles(truth());
      const facts = await truth().transact(async (tx) =>
        tx.load({
          places: convs.flatMap((one) =>
            [0, 1, 2, 3, 9, 10, 11, Number.MAX_SAFE_INTEGER].map((seq) => ({ conv: one, seq })),
          ),
        }),
      );
      const ords = [0, 1, 2, 3, 9, 10, 11, Number.MAX_SAFE_INTEGER].map((seq) => facts.place(conv, seq).ord);
      expect(ords).toEqual([0, 0, 201, 201, 201, 202, 202, 202]);
      expect(facts.place(conv, 9)).toEqual({ seq: 9, ord: 201 });
    });

    test('an own place has that of the last own message at or below it', async () => {
      const { convs, conv } = await withHoles(truth());
      const wanted = (user: string) =>
        convs.flatMap((one) => [1, 2, 9, 10, 20].map((seq) => ({ conv: one, user, seq })));
      const facts = await truth().transact(async (tx) =>
        tx.load({ ownPlaces: [...wanted('ann'), ...wanted('bob'), ...wanted('cat')] }),
      );
      const ownOrds = (user: string): number[] => [1, 2, 9, 10, 20].map((seq) => facts.ownPlace(conv, user, seq));
      expect(ownOrds('ann')).toEqual([0, 201, 201, 201, 201]);
      expect(ownOrds('bob')).toEqual([0, 0, 0, 201, 201]);
      expect(ownOrds('cat')).toEqual([0, 0, 0, 0, 0]);
    });
  });

  describe('reads', () => {
    test('members are the present ones', async () => {
      const conv = freshName('conv');
      const other = freshName('conv');
      await store(truth(), {
        conversations: [conversationFacts({ conv }), conversationFacts({ conv: other })],
        memberships: [
          membershipFacts({ conv, user: 'here' }),
          membershipFacts({ conv, user: 'left', member: false }),
          membershipFacts({ conv: other, user: 'elsewhere' }),
        ],
      });
      expect(await truth().membersOf(conv)).toEqual(['here']);
      await store(truth(), {
        memberships: [membershipFacts({ conv, user: 'left' }), membershipFacts({ conv, user: 'here', member: false })],
      });
      expect(await truth().membersOf(conv)).toEqual(['left']);
      expect(await truth().membersOf(freshName('conv'))).toEqual([]);
    });

    test('revs of those that exist', async () => {
      const [one, two] = [freshName('conv'), freshName('conv')];
      await store(truth(), {
        conversations: [
          conversationFacts({ conv: one, rev: 7 }),
          conversationFacts({ conv: two, rev: 9, dissolved: true }),
        ],
      });
      expect(await truth().revsOf([two, 'none', one, one])).toEqual(
        new Map([
          [one, 7],
          [two, 9],
        ]),
      );
      expect(await truth().revsOf([])).toEqual(new Map());
    });

    test('heads count the messages whose countable flag is on, recalled ones included, whatever ordinals they took', async () => {
      const conv = freshName('conv');
      const other = freshName('conv');
      const messages: Message[] = [
        messageFacts({ conv, seq: 1 }),
        messageFacts({ conv, seq: 2, ord: 1, countable: false, tookOrd: false }),
        messageFacts({ conv, seq: 3, ord: 2, recalled: true }),
        // Recalled before it came, late, late and recalled: none took an ordinal.
        messageFacts({ conv, seq: 4, ord: 2, tookOrd: false, recalled: true }),
        messageFacts({ conv, seq: 5, ord: 2, tookOrd: false }),
        messageFacts({ conv, seq: 6, ord: 2, tookOrd: false, recalled: true }),
        // Turned off by an edit, after its ordinal and before it came.
        messageFacts({ conv, seq: 7, ord: 3, countable: false }),
        messageFacts({ conv, seq: 8, ord: 3, countable: false, tookOrd: false }),
      ];
      await store(truth(), {
        conversations: [
          conversationFacts({ conv, headSeq: 8, headOrd: 3, lateCount: 2 }),
          conversationFacts({ conv: other }),
        ],
        newMessages: messages,
      });
      expect(await truth().heads([conv, other, 'none'])).toEqual(
        new Map([
          [conv, { headSeq: 8, countable: messages.filter(({ countable }) => countable).length }],
          [other, { headSeq: 0, countable: 0 }],
        ]),
      );
      await store(truth(), {
        changedMessages: [
          { ...messages[0]!, countable: false },
          { ...messages[4]!, recalled: true },
        ],
      });
      expect((await truth().heads([conv])).get(conv)?.countable).toBe(4);
    });

    test('[CN1][CN2] counting by message rows: each above the floor stands in one place', async () => {
      const conv = freshName('conv');
      const user = freshName('user');
      const plain = Array.from({ length: 25 }, (_, n) => messageFacts({ conv, seq: 20 + n }));
      await store(truth(), {
        conversations: [conversationFacts({ conv, headSeq: 44 })],
        newMessages: [
          messageFacts({ conv, seq: 1 }),
          messageFacts({ conv, seq: 2, mentionAll: true }),
          messageFacts({ conv, seq: 10, sender: user, mentionAll: true }),
          messageFacts({ conv, seq: 11, sender: user, countable: false, recalled: true }),
          messageFacts({ conv, seq: 12, countable: false }),
          messageFacts({ conv, seq: 13, countable: false, recalled: true }),
          messageFacts({ conv, seq: 14, recalled: true, mentionAll: true }),
          ...plain.slice(0, 2).map((message) => ({ ...message, mentionAll: true })),
          ...plain.slice(2),
        ],
        mentions: [10, 12, 14, 21, 22].map((seq) => ({
          conv,
          seq,
          sender: 'somebody',
          users: [user, 'x'],
          all: seq === 21,
        })),
      });
      expect(await truth().countMessages({ conv, user }, 2)).toEqual({
        unread: 25,
        mentions: 3,
        counted: plain.slice(0, 20).map(({ seq }) => seq),
        leftOut: { own: 2, nonCountable: 2, recalled: 1 },
      });
      expect(await truth().countMessages({ conv, user }, 44)).toEqual({
        unread: 0,
        mentions: 0,
        counted: [],
        leftOut: { own: 0, nonCountable: 0, recalled: 0 },
      });
      expect((await truth().countMessages({ conv, user: 'x' }, 42)).counted).toEqual([43, 44]);
      // Adjustments are no message rows.
      await store(truth(), { adjustments: [adjustmentFacts({ conv, seq: 44, delta: -1 })] });
      expect((await truth().countMessages({ conv, user }, 2)).unread).toBe(25);
    });
  });
}

/** Messages at 2 (ann) and 10 (bob), between two conversations that sort directly before and after; their ordinals begin at 100, 200 and 300. */
async function withHoles(truth: Truth): Promise<{ conv: string; convs: string[] }> {
  const conv = freshName('conv');
  const convs = [`${conv}a`, `${conv}b`, `${conv}c`];
  await store(truth, {
    conversations: convs.map((one) => conversationFacts({ conv: one, headSeq: 10, headOrd: 2 })),
    newMessages: convs.flatMap((one, n) => [
      messageFacts({ conv: one, seq: 2, ord: 1 + (n + 1) * 100, ownOrd: 1 + (n + 1) * 100, sender: 'ann' }),
      messageFacts({ conv: one, seq: 10, ord: 2 + (n + 1) * 100, ownOrd: 1 + (n + 1) * 100, sender: 'bob' }),
    ]),
  });
  return { conv: `${conv}b`, convs };
}
