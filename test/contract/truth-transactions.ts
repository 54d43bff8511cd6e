import { setImmediate as tick } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Bug } from '../../src/errors.ts';
import type { FactRequest, Truth, TruthTransaction, Writes } from '../../src/ports.ts';
import { freshName } from '../support/fresh-name.ts';
import {
  adjustmentFacts,
  conversationFacts,
  membershipFacts,
  messageFacts,
  rowOf,
  store,
} from '../support/truth-facts.ts';

const BIGGEST = Number.MAX_SAFE_INTEGER;
const ACCEPTED_AT = 1_764_000_000_123;

export function truthTransactions(truth: () => Truth): void {
  describe('what a transaction stores is what the next one loads', () => {
    test('conversation, membership, message, adjustment, mentions, parked, event: every field', async () => {
      const conv = freshName('conv');
      const user = freshName('user');
      const eventId = freshName('event');
      const writes = {
        conversations: [distinctConversation(conv)],
        memberships: [distinctMembership(conv, user)],
        newMessages: [
          messageFacts({ conv, seq: 7, sender: user, ord: 5, ownOrd: 3, countable: false, tookOrd: false }),
          messageFacts({ conv, seq: BIGGEST, ord: BIGGEST, ownOrd: BIGGEST - 1, recalled: true, mentionAll: true }),
        ],
        adjustments: [adjustmentFacts({ conv, seq: 7, sender: user, delta: 1, lateNo: 4 })],
        mentions: [{ conv, seq: 7, sender: user, users: ['b', 'a', 'b'], all: false }],
        parked: [
          { conv, messageId: 'p1', recalled: true, mentions: null, mentionAll: null, uncountable: false },
          { conv, messageId: 'p2', recalled: false, mentions: ['x', 'y'], mentionAll: true, uncountable: true },
          { conv, messageId: 'p3', recalled: false, mentions: [], mentionAll: false, uncountable: true },
        ],
        events: [{ eventId, fingerprint: 'f00d', seq: BIGGEST, acceptedAt: ACCEPTED_AT }],
      } satisfies Writes;
      await store(truth(), writes);

      const facts = await load(truth(), {
        eventIds: [eventId],
        conversations: [conv],
        lockConversations: true,
        memberships: [{ conv, user }],
        messagesById: writes.newMessages,
        messagesBySeq: writes.newMessages,
        parked: writes.parked,
        details: [{ conv, seq: 7 }],
      });
      expect(facts.event(eventId)).toEqual(writes.events[0]);
      expect(facts.conversation(conv)).toEqual(writes.conversations[0]);
      expect(facts.membership(conv, user)).toEqual(writes.memberships[0]);
      for (const message of writes.newMessages) {
        expect(facts.messageById(conv, message.messageId)).toEqual(message);
        expect(facts.messageBySeq(conv, message.seq)).toEqual(message);
      }
      for (const parked of writes.parked) expect(facts.parked(conv, parked.messageId)).toEqual(parked);
      const details = facts.details(conv, 7);
      expect(details.adjustment).toEqual(writes.adjustments[0]);
      expect(details.mentions.toSorted()).toEqual(['a', 'b']);
    });

    test('what does not exist answers null, and 0 for ordinals', async () => {
      const conv = freshName('conv');
      const facts = await load(truth(), {
        eventIds: ['none'],
        conversations: [conv, conv],
        lockConversations: true,
        memberships: [{ conv, user: 'u' }],
        messagesById: [{ conv, messageId: 'm' }],
        messagesBySeq: [{ conv, seq: 1 }],
        parked: [{ conv, messageId: 'm' }],
        places: [{ conv, seq: 9 }],
        ownPlaces: [{ conv, user: 'u', seq: 9 }],
        details: [{ conv, seq: 1 }],
      });
      expect(facts.event('none')).toBeNull();
      expect(facts.conversation(conv)).toBeNull();
      expect(facts.membership(conv, 'u')).toBeNull();
      expect(facts.messageById(conv, 'm')).toBeNull();
      expect(facts.messageBySeq(conv, 1)).toBeNull();
      expect(facts.parked(conv, 'm')).toBeNull();
      expect(facts.place(conv, 9).ord).toBe(0);
      expect(facts.ownPlace(conv, 'u', 9)).toBe(0);
      expect(facts.details(conv, 1)).toEqual({ adjustment: null, mentions: [] });
    });

    test('what was not asked for is not looked up', async () => {
      const facts = await load(truth(), { conversations: ['asked'] });
      expect(() => facts.conversation('other')).toThrow(Bug);
      expect(() => facts.membership('asked', 'u')).toThrow(Bug);
      expect(() => facts.place('asked', 1)).toThrow(Bug);
    });

    test('every list is insert or replace by key', async () => {
      const conv = freshName('conv');
      const user = freshName('user');
      const eventId = freshName('event');
      const message = messageFacts({ conv, seq: 1 });
      await store(truth(), {
        conversations: [conversationFacts({ conv })],
        newMessages: [message],
        memberships: [membershipFacts({ conv, user })],
        adjustments: [adjustmentFacts({ conv, seq: 1 })],
        mentions: [{ conv, seq: 1, sender: 'somebody', users: ['a', 'b'], all: false }],
        parked: [
          { conv, messageId: 'p', recalled: false, mentions: ['a'], mentionAll: true, uncountable: false },
          { conv, messageId: 'q', recalled: true, mentions: null, mentionAll: null, uncountable: false },
        ],
        events: [{ eventId, fingerprint: 'one', seq: 1, acceptedAt: ACCEPTED_AT }],
      });
      const parked = { conv, messageId: 'p', recalled: true, mentions: null, mentionAll: null, uncountable: true };
      await store(truth(), {
        conversations: [distinctConversation(conv)],
        changedMessages: [{ ...message, countable: false, recalled: true, mentionAll: true }],
        memberships: [distinctMembership(conv, user)],
        adjustments: [adjustmentFacts({ conv, seq: 1, delta: 0, lateNo: 0 })],
        mentions: [{ conv, seq: 1, sender: 'somebody', users: ['b', 'c'], all: true }],
        parked: [parked],
        unparked: [{ conv, messageId: 'q' }],
        events: [{ eventId, fingerprint: 'two', seq: 2, acceptedAt: ACCEPTED_AT + 1 }],
      });
      const facts = await load(truth(), {
        eventIds: [eventId],
        conversations: [conv],
        memberships: [{ conv, user }],
        messagesBySeq: [message],
        parked: [parked, { conv, messageId: 'q' }],
        details: [message],
      });
      expect(facts.event(eventId)).toEqual({ eventId, fingerprint: 'two', seq: 2, acceptedAt: ACCEPTED_AT + 1 });
      expect(facts.conversation(conv)).toEqual(distinctConversation(conv));
      expect(facts.membership(conv, user)).toEqual(distinctMembership(conv, user));
      expect(facts.messageBySeq(conv, 1)).toEqual({ ...message, countable: false, recalled: true, mentionAll: true });
      expect(facts.parked(conv, 'p')).toEqual(parked);
      expect(facts.parked(conv, 'q')).toBeNull();
      expect(facts.details(conv, 1).adjustment).toEqual(adjustmentFacts({ conv, seq: 1, delta: 0, lateNo: 0 }));
      expect(facts.details(conv, 1).mentions.toSorted()).toEqual(['b', 'c']);
    });
  });

  describe('all or nothing', () => {
    test('a transaction that throws leaves nothing, and its error comes out as it was', async () => {
      const conv = freshName('conv');
      const fault = new RangeError('thrown by the work');
      const attempt = truth().transact(async (tx) => {
        await tx.store(pairOf(conv));
        throw fault;
      });
      await expect(attempt).rejects.toBe(fault);
      expect((await truth().revsOf([conv])).size).toBe(0);
      expect(await truth().rowsOfUser(`${conv}-user`)).toEqual([]);
      // The next one is none the worse for it.
      await store(truth(), pairOf(conv));
      expect((await truth().revsOf([conv])).get(conv)).toBe(1);
    });

    test('[DT3] a message never takes the place of another, and nothing of its transaction stays', async () => {
      const conv = freshName('conv');
      await store(truth(), { ...pairOf(conv), newMessages: [messageFacts({ conv, seq: 1, messageId: 'first' })] });
      const clashes = [
        messageFacts({ conv, seq: 1, messageId: 'second' }),
        messageFacts({ conv, seq: 2, messageId: 'first' }),
      ];
      for (const clash of clashes) {
        const attempt = store(truth(), { conversations: [conversationFacts({ conv, rev: 2 })], newMessages: [clash] });
        await expect(attempt).rejects.toThrow(Error);
      }
      expect((await truth().revsOf([conv])).get(conv)).toBe(1);
      const facts = await load(truth(), { messagesBySeq: [1, 2].map((seq) => ({ conv, seq })) });
      expect(facts.messageBySeq(conv, 1)?.messageId).toBe('first');
      expect(facts.messageBySeq(conv, 2)).toBeNull();
    });

    test('a failure inside that the work passes over still takes everything back', async () => {
      const conv = freshName('conv');
      await store(truth(), { ...pairOf(conv), newMessages: [messageFacts({ conv, seq: 1 })] });
      const attempt = truth().transact(async (tx) => {
        const clash = tx.store({
          conversations: [conversationFacts({ conv, rev: 2 })],
          newMessages: [messageFacts({ conv, seq: 1 })],
        });
        return clash.catch(() => 'passed over');
      });
      await expect(attempt).rejects.toThrow(Error);
      expect((await truth().revsOf([conv])).get(conv)).toBe(1);
    });

    test('a change of a message that is not there is refused', async () => {
      const conv = freshName('conv');
      await store(truth(), pairOf(conv));
      await expect(store(truth(), { changedMessages: [messageFacts({ conv, seq: 1 })] })).rejects.toThrow(Error);
    });

    test('a transaction cannot be used after its end', async () => {
      let kept: TruthTransaction | null = null;
      await truth().transact(async (tx) => {
        kept = tx;
      });
      await expect(kept!.load({})).rejects.toThrow(Bug);
      await expect(kept!.store({})).rejects.toThrow(Bug);
    });
  });

  describe('side by side', () => {
    test('[OR1] transactions on one conversation never interleave: no seq is given out twice', async () => {
      const conv = freshName('conv');
      await store(truth(), pairOf(conv));
      const seqs = await Promise.all(Array.from({ length: 20 }, async (_, n) => post(truth(), conv, `id-${n}`)));
      expect(seqs.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
      expect((await truth().heads([conv])).get(conv)).toEqual({ headSeq: 20, countable: 20 });
    });

    test('a conversation that is locked before it exists comes into being once', async () => {
      const conv = freshName('conv');
      const created = await Promise.all(
        Array.from({ length: 8 }, async () =>
          truth().transact(async (tx) => {
            const before = (await tx.load({ conversations: [conv], lockConversations: true })).conversation(conv);
            await tick();
            await tx.store({
              conversations: [{ ...(before ?? conversationFacts({ conv, rev: 0 })), rev: (before?.rev ?? 0) + 1 }],
            });
            return before === null;
          }),
        ),
      );
      expect(created.filter(Boolean)).toHaveLength(1);
      expect((await truth().revsOf([conv])).get(conv)).toBe(8);
    });

    test('[DT8] an event id is used once', async () => {
      const eventId = freshName('event');
      const first = await Promise.all(
        Array.from({ length: 8 }, async (_, n) =>
          truth().transact(async (tx) => {
            const known = (await tx.load({ eventIds: [eventId] })).event(eventId);
            await tick();
            if (known !== null) return false;
            await tx.store({ events: [{ eventId, fingerprint: String(n), seq: n, acceptedAt: ACCEPTED_AT }] });
            return true;
          }),
        ),
      );
      expect(first.filter(Boolean)).toHaveLength(1);
    });

    test('an open transaction sees its own writes, and nobody else does until it has ended', async () => {
      const conv = freshName('conv');
      const user = `${conv}-user`;
      await store(truth(), pairOf(conv));
      await truth().transact(async (tx) => {
        await tx.load({ conversations: [conv], lockConversations: true, memberships: [{ conv, user }] });
        await tx.store({
          conversations: [conversationFacts({ conv, rev: 2, headSeq: 1, headOrd: 1 })],
          memberships: [membershipFacts({ conv, user, rev: 2 })],
        });
        const again = await tx.load({ conversations: [conv] });
        expect(again.conversation(conv)?.rev).toBe(2);
        const [inside] = await tx.rows([{ conv, user }]);
        expect([inside?.conversation.rev, inside?.membership.rev]).toEqual([2, 2]);

        const outside = await rowOf(truth(), conv, user);
        expect([outside.conversation.rev, outside.membership.rev]).toEqual([1, 1]);
        expect((await truth().revsOf([conv])).get(conv)).toBe(1);
      });
      const after = await rowOf(truth(), conv, user);
      expect([after.conversation.rev, after.membership.rev]).toEqual([2, 2]);
    });
  });
}

async function load(truth: Truth, request: FactRequest) {
  return truth.transact(async (tx) => tx.load(request));
}

/** Gives out the next seq as a service does: locks, reads, waits for something else, writes. */
async function post(truth: Truth, conv: string, messageId: string): Promise<number> {
  return truth.transact(async (tx) => {
    const before = (await tx.load({ conversations: [conv], lockConversations: true })).conversation(conv);
    await tick();
    const seq = (before?.headSeq ?? 0) + 1;
    await tx.store({
      conversations: [conversationFacts({ conv, headSeq: seq, headOrd: seq, rev: seq + 1 })],
      newMessages: [messageFacts({ conv, seq, messageId })],
    });
    return seq;
  });
}

function pairOf(conv: string): Writes {
  const user = `${conv}-user`;
  return { conversations: [conversationFacts({ conv })], memberships: [membershipFacts({ conv, user })] };
}

/** No two fields alike, so that none can stand in for another. */
function distinctConversation(conv: string) {
  return {
    conv,
    headSeq: BIGGEST,
    headOrd: BIGGEST - 1,
    memberCount: 3,
    rev: BIGGEST - 2,
    membersRev: 4,
    purgeSeq: BIGGEST - 3,
    purgeOrd: BIGGEST - 4,
    lateCount: 5,
    dissolved: true,
    activity: BIGGEST - 5,
  };
}

function distinctMembership(conv: string, user: string) {
  return {
    user,
    conv,
    member: false,
    joinSeq: 1,
    readSeq: BIGGEST,
    readEpoch: 2,
    clearSeq: 3,
    floorSeq: BIGGEST - 1,
    floorOrd: BIGGEST - 2,
    floorOwn: 4,
    ownOrd: 5,
    hiddenOrd: 6,
    hiddenLate: 7,
    awayOrd: 8,
    awayLate: 9,
    muted: true,
    marked: true,
    memberVersion: BIGGEST - 3,
    rev: BIGGEST - 4,
  };
}
