import { describe, expect, test } from 'vitest';
import type { Truth } from '../../src/ports.ts';
import { freshName } from '../support/fresh-name.ts';
import { conversationFacts, membershipFacts, messageFacts, store } from '../support/truth-facts.ts';

/** Ids that some store somewhere takes for the same, cuts, trims, folds, or reads as something else. */
const TWINS = [
  ['a', 'A', 'á', 'a\u0301', 'ａ', 'а'], // case, accent, composed or not, full width, Cyrillic
  ['a ', ' a', 'a\t', 'a\u00a0', 'a\u200b', '\ufeffa', 'a\u0000', 'a\u0000b', '\u0001'],
  ['ß', 'ss', 'ﬁ', 'fi', 'İ', 'i', 'ı', 'I'],
  ['9007199254740992', '9007199254740993', '18446744073709551616', '007', '7', '7.0', '1e3', '0x7', '-0', '0'],
  [`'`, `"`, '`', `''`, `';--`, '\\', `\\'`, '%', '_', '?', '$1', ':a', '@a', '{a}', '[1]', '1,2', '1:2'],
  ['null', 'NULL', 'true', 'undefined', '\u{1f642}', '\u{10ffff}', '\ufffd', '\u{1f468}\u200d\u{1f469}'],
  ['x'.repeat(128), `${'x'.repeat(127)}y`, 'é'.repeat(64), '\u{1f642}'.repeat(32)],
].flat();

export function truthIds(truth: () => Truth): void {
  describe('ids are compared byte for byte', () => {
    test('as users, conversations, messages and events, no two meet and none changes', async () => {
      const conv = freshName('conv');
      // Made whole again where it cuts a character: half of one is no id.
      const eventId = (id: string): string =>
        (id.slice(0, 20) + id.length + (id.codePointAt(0) ?? 0) + id.slice(-1)).toWellFormed();
      await store(truth(), {
        conversations: [
          conversationFacts({ conv }),
          ...TWINS.map((id, n) => conversationFacts({ conv: id, rev: n + 1 })),
        ],
        memberships: TWINS.map((user, n) => membershipFacts({ conv, user, rev: n + 1 })),
        newMessages: TWINS.map((id, n) => messageFacts({ conv, seq: n + 1, messageId: id, sender: id, ownOrd: n + 1 })),
        mentions: TWINS.map((id, n) => ({ conv, seq: n + 1, sender: 'x', users: [id], all: false })),
        events: TWINS.map((id, n) => ({ eventId: eventId(id), fingerprint: id, seq: n, acceptedAt: Date.now() })),
      });
      const facts = await truth().transact(async (tx) =>
        tx.load({
          eventIds: TWINS.map(eventId),
          conversations: TWINS,
          memberships: TWINS.map((user) => ({ conv, user })),
          messagesById: TWINS.map((messageId) => ({ conv, messageId })),
          ownPlaces: TWINS.map((user) => ({ conv, user, seq: TWINS.length })),
          details: TWINS.map((_, n) => ({ conv, seq: n + 1 })),
        }),
      );
      for (const [n, id] of TWINS.entries()) {
        expect(facts.conversation(id)).toMatchObject({ conv: id, rev: n + 1 });
        expect(facts.membership(conv, id)).toMatchObject({ user: id, rev: n + 1 });
        expect(facts.messageById(conv, id)).toMatchObject({ messageId: id, sender: id, seq: n + 1 });
        expect(facts.ownPlace(conv, id, TWINS.length)).toBe(n + 1);
        expect(facts.details(conv, n + 1).mentions).toEqual([id]);
        expect(facts.event(eventId(id))).toMatchObject({ fingerprint: id, seq: n });
      }
      expect((await truth().membersOf(conv)).toSorted()).toEqual(TWINS.toSorted());
      const revs = await truth().revsOf(TWINS);
      expect(TWINS.map((id) => revs.get(id))).toEqual(TWINS.map((_, n) => n + 1));
    });

    test('a membership of one pair is found by no other cut of the same text', async () => {
      const conv = freshName('conv');
      const cuts = [',', ':', '/', ' ', '|', '\u0000', '","', "','"].map((separator) => ({
        stored: { conv, user: `a${separator}b` },
        other: { conv: `${conv}${separator}a`, user: 'b' },
      }));
      await store(truth(), {
        conversations: cuts.flatMap(({ other }) => conversationFacts({ conv: other.conv })),
        memberships: cuts.map(({ stored }, n) => membershipFacts({ ...stored, rev: n + 1 })),
      });
      const facts = await truth().transact(async (tx) =>
        tx.load({ memberships: cuts.flatMap(({ stored, other }) => [other, stored]) }),
      );
      for (const [n, { stored, other }] of cuts.entries()) {
        expect(facts.membership(stored.conv, stored.user)?.rev).toBe(n + 1);
        expect(facts.membership(other.conv, other.user)).toBeNull();
      }
    });

    test('users are walked in byte order, each once, page by page', async () => {
      // As UTF-16, which JavaScript compares by, the last two would change places.
      const start = freshName('walk');
      const users = ['', 'A', 'Z', 'a', 'a ', 'a\u0301', 'é', '\ufffd', '\u{10000}'].map((end) => `${start}/${end}`);
      const convs = [freshName('conv'), freshName('conv')];
      await store(truth(), {
        conversations: convs.map((conv) => conversationFacts({ conv })),
        memberships: convs.flatMap((conv) => users.toReversed().map((user) => membershipFacts({ conv, user }))),
      });
      const walked: string[] = [];
      for (let after = `${start}.`; walked.length < users.length;) {
        const page = await truth().users(after, 2);
        expect(page.length).toBeGreaterThan(0);
        walked.push(...page);
        after = page.at(-1) ?? after;
      }
      expect(walked.slice(0, users.length)).toEqual(users);
      expect((await truth().users(null, 1)).length).toBe(1);
      expect(await truth().users('\u{10ffff}'.repeat(32), 5)).toEqual([]);
    });
  });
}
