import { describe, expect, test } from 'vitest';
import { systemClock, systemRandom } from '../../../src/system.ts';

describe('clock of the system', () => {
  test('runs once after a time, unless cancelled', async () => {
    const ran: string[] = [];
    systemClock.after(1, () => ran.push('kept'));
    const cancel = systemClock.after(1, () => ran.push('cancelled'));
    cancel();
    await new Promise<void>((resolve) => systemClock.after(5, resolve));
    expect(ran).toEqual(['kept']);
  });

  test('does not run early when the time is longer than a timer can be', async () => {
    const ran: string[] = [];
    const cancel = systemClock.after(2 ** 31 + 1000, () => ran.push('in 25 days'));
    await new Promise<void>((resolve) => systemClock.after(5, resolve));
    expect(ran).toEqual([]);
    cancel();
  });

  test('soon is after what has already arrived, and before any time has passed', async () => {
    const order: string[] = [];
    const timer = new Promise<void>((resolve) => systemClock.after(50, () => resolve(void order.push('later'))));
    systemClock.soon(() => order.push('soon'));
    queueMicrotask(() => order.push('microtask'));
    await timer;
    expect(order).toEqual(['microtask', 'soon', 'later']);
  });
});

describe('chance of the system', () => {
  test('tokens have the length asked for, of digits and small letters, and all of them', () => {
    const token = systemRandom.token(10_000);
    expect(token).toMatch(/^[0-9a-z]{10000}$/);
    expect(new Set(token).size).toBe(36);
    expect(systemRandom.token(0)).toBe('');
  });

  test('fractions lie in [0, 1)', () => {
    for (let i = 0; i < 1000; i++) {
      const fraction = systemRandom.fraction();
      expect(fraction >= 0 && fraction < 1).toBe(true);
    }
  });
});
