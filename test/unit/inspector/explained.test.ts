import { expect, test } from 'vitest';
import { explained } from '../../../inspector/page/explained.ts';
import type { ExplainAnswer, InspectedFacts, InspectedRow } from '../../../protocol/http.ts';

const ANSWER: ExplainAnswer = {
  conv: 'c',
  user: 'ann',
  head: 40,
  floor: 3,
  floor_from: 'read',
  unread: 25,
  mentions: 1,
  counted: Array.from({ length: 20 }, (_, i) => i + 4),
  left_out: { own: 2, not_countable: 0, recalled: 1, capped: 0 },
};
const FACTS: InspectedFacts = {
  conv_rev: 5,
  member_rev: 2,
  listing: 'listed',
  unread: 25,
  capped: false,
  mentions: 1,
  read_seq: 3,
  read_epoch: 0,
  floor_seq: 3,
  head_seq: 40,
  muted: false,
  marked: false,
};

function row(verdict: InspectedRow['verdict'], held: Partial<InspectedFacts> = {}): InspectedRow {
  return { conv: 'c', verdict, differ: Object.keys(held), truth: FACTS, state: { ...FACTS, ...held, version: 9 } };
}

test('[CN1] says what counts, from where, what was left out, and what the state makes of it', () => {
  expect(explained(ANSWER, row('same'))).toEqual([
    'Truth counts 25 unread, 1 of them mentions.',
    'The newest message is seq 40; counting begins above seq 3: so far the user has read.',
    `Counted seqs: ${ANSWER.counted.join(', ')} and 5 more.`,
    "Left out: 2 the user's own, 1 recalled.",
    'The state holds 25 unread: the same.',
  ]);
});

test('wrong, behind and ahead are different things', () => {
  const last = (one: InspectedRow | undefined): string => explained(ANSWER, one).at(-1) ?? '';
  expect(last(row('wrong', { unread: 41 }))).toMatch(
    /holds 41 unread at the same revs \(5, 2\), which is wrong: unread/,
  );
  expect(last(row('behind', { conv_rev: 4, unread: 24 }))).toMatch(/24 unread at revs 4, 2; truth stands at 5, 2/);
  expect(last(row('ahead', { conv_rev: 9 }))).toMatch(/revs 9, 2, which truth \(5, 2\) has never had/);
  expect(last(undefined)).toBe('The state holds no such row.');
});
