import { expect, test } from 'vitest';
import { badgeText, countText, plural } from '../../../demo/page/numbers.ts';

test('a badge has two digits and a plus', () => {
  expect([0, 1, 99, 100, 1505].map(badgeText)).toEqual(['', '1', '99', '99+', '99+']);
});

test('numbers in a sentence', () => {
  expect(countText(1505)).toBe('1,505');
  expect([plural(1, 'device'), plural(2, 'device'), plural(0, 'frame')]).toEqual(['1 device', '2 devices', '0 frames']);
});
