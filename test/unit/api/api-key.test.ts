import { describe, expect, test } from 'vitest';
import { bearerOf, createApiKeys } from '../../../src/api/api-key.ts';

describe('API keys', () => {
  test('either of two is accepted, and nothing else', () => {
    const keys = createApiKeys(['present', 'previous']);
    expect(['present', 'previous'].map((key) => keys.accepts(key))).toEqual([true, true]);
    for (const wrong of ['', 'presen', 'presentx', 'Present', ' present', 'presentprevious', 'x'.repeat(100_000)]) {
      expect(keys.accepts(wrong)).toBe(false);
    }
  });

  test('an object of keys does not hold them in clear', () => {
    expect(JSON.stringify(createApiKeys(['present']))).not.toContain('present');
  });
});

describe('the Authorization header', () => {
  test.each([
    ['Bearer abc', 'abc'],
    ['bearer abc', 'abc'],
    ['Bearer   abc ', 'abc'],
    [undefined, null],
    ['', null],
    ['Bearer', null],
    ['Bearer ', null],
    ['Bearer a b', null],
    ['Basic abc', null],
    ['abc', null],
  ])('%j gives %j', (header, given) => {
    expect(bearerOf(header)).toBe(given);
  });
});
