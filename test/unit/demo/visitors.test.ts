import { describe, expect, test } from 'vitest';
import { createVisitors } from '../../../demo/server/visitors.ts';
import { systemRandom } from '../../../src/system.ts';

describe('invitations', () => {
  test('each lets one visitor in, once', () => {
    const visitors = createVisitors(systemRandom);
    const [first, second] = [visitors.invite(), visitors.invite()];
    const session = visitors.enter(first) ?? '';
    expect(visitors.isKnown(session)).toBe(true);
    expect(visitors.enter(first)).toBeNull();
    expect(visitors.enter(second)).not.toBe(session);
    for (const guess of ['', 'guess', first, second]) expect(visitors.isKnown(guess)).toBe(false);
    expect(visitors.enter('')).toBeNull();
  });

  test('neither links nor sessions grow without end: the oldest are forgotten', () => {
    const visitors = createVisitors(systemRandom);
    const oldest = visitors.invite();
    for (let i = 0; i < 8; i++) visitors.invite();
    expect(visitors.enter(oldest)).toBeNull();
    const session = visitors.enter(visitors.invite()) ?? '';
    for (let i = 0; i < 32; i++) visitors.enter(visitors.invite());
    expect(visitors.isKnown(session)).toBe(false);
  });
});
