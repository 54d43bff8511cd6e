import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { people } from '../../../demo/cast.ts';
import { startChecker } from '../../../demo/page/checker.ts';
import type { Device } from '../../../demo/page/device.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** One device that is live and stands nowhere yet; `moves` is called when it does. */
function scene() {
  const moves: (() => void)[] = [];
  const device = {
    person: people[0],
    title: 'Ann’s phone',
    standing: () => null,
    client: { state: 'live', on: () => () => {} },
    onMove: (listener: () => void) => void moves.push(listener),
  } as unknown as Device;
  const seen = { checks: 0, faults: [] as unknown[] };
  startChecker([device], {
    tally: ({ checks }) => (seen.checks = checks),
    standing: () => {},
    wrong: () => {},
    fault: (error) => void seen.faults.push(error),
  });
  return { seen, moved: () => moves.forEach((move) => move()) };
}

test.each([
  ['the server does not answer', () => Promise.reject(new TypeError('fetch failed'))],
  ['the server refuses', () => Promise.resolve(new Response('not now', { status: 503 }))],
])('a check that fails since %s is followed by another, although nothing moves', async (_, failing) => {
  const fetch = vi.fn(failing);
  vi.stubGlobal('fetch', fetch);
  const { seen, moved } = scene();
  moved();
  await vi.advanceTimersByTimeAsync(100);
  expect([fetch.mock.calls.length, seen.checks]).toEqual([1, 0]);
  fetch.mockImplementation(() => Promise.resolve(Response.json({ users: [], wrong: 0 })));
  await vi.advanceTimersByTimeAsync(2000);
  expect(fetch).toHaveBeenCalledTimes(2);
  expect(seen.checks).toBe(1);
});
