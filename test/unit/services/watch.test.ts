import { expect, test } from 'vitest';
import { Deadline } from '../../../src/deadline.ts';
import { Unavailable } from '../../../src/errors.ts';
import type { Change } from '../../../src/ports.ts';
import { Watch } from '../../../src/services/watch.ts';
import { createMemoryWakeup } from '../../../src/state/memory-wakeup.ts';
import { createHandClock } from '../../support/hand-clock.ts';

const WATCHES_MAX = 32;
const WAITING_MAX = 100;
const BEAT_MS = 15_000;

function opened() {
  const clock = createHandClock();
  const wakeup = createMemoryWakeup();
  const bench = { reads: 0, readTakesMs: 0 };
  const read = async (): Promise<null> => {
    bench.reads++;
    if (bench.readTakesMs > 0) await new Promise<void>((resolve) => clock.after(bench.readTakesMs, resolve));
    return null;
  };
  return { bench, clock, wakeup, watch: new Watch({ wakeup, clock, state: { read } }) };
}

function change(user: string, syncVersion: number): Change {
  const head = { epoch: 'e', syncVersion, total: 0, badge: 0, mentions: 0, digest: '0'.repeat(12) };
  return { ...head, user, baseVersion: syncVersion - 1, op: 'message', rows: [] };
}

test('hears of its own user while it is open, and keeps the node in the circle of those that are told', async () => {
  const { bench, clock, wakeup, watch } = opened();
  expect(wakeup.holds('ann')).toBe(false);
  const ann = await watch.open('ann');
  expect([wakeup.holds('ann'), bench.reads]).toEqual([true, 1]);
  const next = ann.next();
  await wakeup.publishChanges([change('bob', 1), change('ann', 2), change('ann', 3)]);
  expect((await next)?.map(({ syncVersion }) => syncVersion)).toEqual([2, 3]);

  const quiet = ann.next();
  await clock.pass(BEAT_MS);
  expect([await quiet, bench.reads]).toEqual([[], 2]);
  ann.close();
  expect([wakeup.holds('ann'), await ann.next(), clock.waiting]).toEqual([false, null, 0]);
});

test('of what nobody fetches the newest is kept', async () => {
  const { wakeup, watch } = opened();
  const ann = await watch.open('ann');
  await wakeup.publishChanges(Array.from({ length: WAITING_MAX + 5 }, (_, i) => change('ann', i + 1)));
  const versions = (await ann.next())?.map(({ syncVersion }) => syncVersion);
  expect([versions?.length, versions?.[0], versions?.at(-1)]).toEqual([WAITING_MAX, 6, WAITING_MAX + 5]);
});

test('so many at once; one that ends, or that comes too late, takes no place', async () => {
  const { bench, clock, watch } = opened();
  const open = await Promise.all(Array.from({ length: WATCHES_MAX }, () => watch.open('ann')));
  await expect(watch.open('bob')).rejects.toBeInstanceOf(Unavailable);
  open[0]?.close();
  open[0]?.close();
  bench.readTakesMs = 3000;
  const late = watch.open('bob', new Deadline(clock));
  await Promise.all([expect(late).rejects.toBeInstanceOf(Unavailable), clock.pass(bench.readTakesMs)]);
  bench.readTakesMs = 0;
  await watch.open('bob');
  await expect(watch.open('cid')).rejects.toBeInstanceOf(Unavailable);
});

test('ends with the server, also where somebody waits', async () => {
  const { watch } = opened();
  const ann = await watch.open('ann');
  const next = ann.next();
  watch.close();
  expect(await next).toBeNull();
  await expect(watch.open('ann')).rejects.toBeInstanceOf(Unavailable);
});
