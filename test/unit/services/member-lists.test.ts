import { expect, test } from 'vitest';
import { MemberLists } from '../../../src/services/member-lists.ts';

function lists(
  weightMax: number,
  users: readonly string[] = ['ann', 'ben'],
): { of: MemberLists['of']; loads: string[] } {
  const loads: string[] = [];
  const kept = new MemberLists(weightMax, async (conv) => {
    loads.push(conv);
    return users;
  });
  return { of: (conv, rev) => kept.of(conv, rev), loads };
}

test('a list is read once, and again when its members have changed', async () => {
  const { of, loads } = lists(1000);
  expect([await of('c', 1), await of('c', 1), await of('c', 2), await of('c', 2)]).toHaveLength(4);
  expect(loads).toEqual(['c', 'c']);
});

test('the least recently used are forgotten', async () => {
  const { of, loads } = lists(22 * 3);
  for (const conv of ['a', 'b', 'c', 'a', 'd', 'a', 'b']) expect(await of(conv, 1)).toEqual(['ann', 'ben']);
  expect(loads).toEqual(['a', 'b', 'c', 'd', 'b']);
});

test('lists without anybody take room too, or their number would have no end', async () => {
  const { of, loads } = lists(20 * 3, []);
  for (let i = 0; i < 5; i++) await of(`c${i}`, 1);
  for (let i = 4; i >= 0; i--) await of(`c${i}`, 1);
  expect(loads).toEqual(['c0', 'c1', 'c2', 'c3', 'c4', 'c1', 'c0']);
});

test('a list that is too long to be kept is answered all the same', async () => {
  const { of, loads } = lists(21);
  expect(await of('c', 1)).toEqual(['ann', 'ben']);
  expect(await of('c', 1)).toEqual(['ann', 'ben']);
  expect(loads).toEqual(['c', 'c']);
});
