import { describe, expect, test } from 'vitest';
import { Heartbeat } from '../../../src/gateway/heartbeat.ts';
import { createHandClock } from '../../support/hand-clock.ts';

describe('heartbeat wheel', () => {
  test('visits each once a turn, with one timer', async () => {
    const clock = createHandClock();
    const wheel = new Heartbeat(clock, 1600);
    const visits = new Map<number, number>();
    const all = Array.from({ length: 100 }, (_, n) => ({ visit: () => void visits.set(n, (visits.get(n) ?? 0) + 1) }));
    for (const one of all) wheel.add(one);
    await clock.pass(1600);
    expect([visits.size, new Set(visits.values())]).toEqual([100, new Set([1])]);
    expect(clock.waiting).toBe(1);
    for (const one of all.slice(1)) wheel.remove(one);
    await clock.pass(1600 * 3);
    expect([visits.get(0), visits.get(1)]).toEqual([4, 1]);
    wheel.stop();
    expect(clock.waiting).toBe(0);
  });

  test('stands still while nobody is on it, and may be left during a visit', async () => {
    const clock = createHandClock();
    const wheel = new Heartbeat(clock, 160);
    const once = { visit: () => wheel.remove(once) };
    wheel.add(once);
    await clock.pass(1000);
    expect(clock.waiting).toBe(0);
    let visits = 0;
    wheel.add({ visit: () => void visits++ });
    await clock.pass(320);
    expect(visits).toBe(2);
  });
});
