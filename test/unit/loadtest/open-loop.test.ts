import { describe, expect, test } from 'vitest';
import { runOpenLoop } from '../../../loadtest/open-loop.ts';
import { randomOf } from '../../../loadtest/random.ts';

function dueTimes(seed: number, stallMs: number): Promise<number[]> {
  const startMs = performance.now();
  const dues: number[] = [];
  const arrive = (dueMs: number): void => {
    dues.push(dueMs - startMs);
    const untilMs = performance.now() + (dues.length === 1 ? stallMs : 0);
    while (performance.now() < untilMs);
  };
  return runOpenLoop({ rate: 1000, seconds: 0.2, random: randomOf(seed), arrive }).then(() => dues);
}

describe('open loop', () => {
  test('arrivals keep their times when whoever takes them stalls, and none is left out', async () => {
    const calm = await dueTimes(7, 0);
    const stalled = await dueTimes(7, 150);
    expect(stalled).toHaveLength(calm.length);
    const gaps = (dues: number[]): number[] => dues.map((due, i) => due - (dues[i - 1] ?? due));
    gaps(stalled).forEach((gap, i) => expect(gap).toBeCloseTo(gaps(calm)[i]!, 6));
  });

  test('as many as the rate says, on average', async () => {
    const count = (await dueTimes(1, 0)).length;
    // 200 expected, of a deviation of 14: six of them either way.
    expect(count).toBeGreaterThan(115);
    expect(count).toBeLessThan(285);
  });
});
