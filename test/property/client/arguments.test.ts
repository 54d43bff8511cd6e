import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkConv } from '../../../client/intent.ts';
import { id } from '../../../protocol/ids.ts';
import { check } from '../../../protocol/schema.ts';

test('a conversation is refused by the client when the protocol refuses its id, and only then', () => {
  const anyUnit = fc.integer({ min: 0, max: 0xff_ff }).map((unit) => String.fromCharCode(unit));
  const nearTheLimit = fc.string({ unit: 'binary', minLength: 40, maxLength: 140 });
  const values = fc.oneof(fc.string({ unit: 'binary' }), nearTheLimit, fc.string({ unit: anyUnit }), fc.anything());
  fc.assert(
    fc.property(values, (value) => {
      let refused = false;
      try {
        checkConv(value);
      } catch {
        refused = true;
      }
      expect(refused).toBe(!check(id, value).ok);
    }),
    {
      numRuns: 2_000,
      examples: [[''], ['\ud800'], ['a'.repeat(128)], ['a'.repeat(129)], ['é'.repeat(64)], ['é'.repeat(65)]],
    },
  );
});
