import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tallyPart, tallyPartForMany } from '../../../src/core/part-tally.ts';

const USERS = ['ann', 'bob', 'cem', 'dan'];
const user = fc.constantFrom(...USERS);
const messages = fc.array(
  fc.record({
    seq: fc.nat(),
    sender: user,
    counts: fc.boolean(),
    mentionAll: fc.boolean(),
    mentions: fc.array(user, { maxLength: 4 }),
  }),
  { maxLength: 12 },
);

test('[CN1][CN2][CN4][CN5] what a part comes to is the same counted for one user and for many', () => {
  fc.assert(
    fc.property(messages, (list) => {
      const part = { conv: 'c', fromRev: 1, toRev: 2, headSeq: 1, activity: 1, messages: list };
      const tallyOf = tallyPartForMany(part);
      for (const one of USERS) expect(tallyOf(one)).toEqual(tallyPart(part, one));
    }),
  );
});
