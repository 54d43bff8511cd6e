import { expect, test } from 'vitest';
import { createLiveness } from '../../../client/liveness.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const HOUR_MS = 3_600_000;

function watched(heartbeatMs = 25_000) {
  const clock = new VirtualClock();
  const heard: string[] = [];
  const liveness = createLiveness(clock, { silent: () => heard.push('silent'), asleep: () => heard.push('asleep') });
  liveness.start(heartbeatMs);
  return { clock, heard, liveness };
}

test('silence of a heartbeat and 8 s is the end', async () => {
  const { clock, heard } = watched();
  await clock.pass(32_999);
  expect(heard).toEqual([]);
  await clock.pass(1);
  expect(heard).toEqual(['silent']);
});

test('any frame is a sign of life', async () => {
  const { clock, heard, liveness } = watched();
  for (let i = 0; i < 10; i++) {
    await clock.pass(30_000);
    liveness.heard();
  }
  expect(heard).toEqual([]);
  liveness.stop();
  await clock.pass(100_000);
  expect(heard).toEqual([]);
});

test('a timer that comes late after sleep asks first, and only an answer that does not come in time is the end', async () => {
  const { clock, heard, liveness } = watched();
  clock.sleep(3_600_000);
  await clock.pass(0);
  expect(heard).toEqual(['asleep']);
  liveness.expect(2_000);
  await clock.pass(1_500);
  liveness.heard();
  await clock.pass(30_000);
  expect(heard).toEqual(['asleep']);
  liveness.expect(2_000);
  await clock.pass(2_000);
  expect(heard).toEqual(['asleep', 'silent']);
});

test('a tab whose timers are all late gives a dead socket up in the end', async () => {
  const { clock, heard, liveness } = watched();
  for (let i = 0; i < 4; i++) {
    liveness.expect(2_000);
    clock.sleep(60_000);
    await clock.pass(0);
  }
  expect(heard).toEqual(['asleep', 'asleep', 'asleep', 'silent']);
});

test('a clock that is set back makes nobody dead, and what is dead is found in twice the time', async () => {
  const { clock, heard } = watched();
  await clock.pass(20_000);
  clock.set(-HOUR_MS);
  await clock.pass(13_000);
  expect(heard).toEqual([]);
  await clock.pass(33_000);
  expect(heard).toEqual(['silent']);
});

test('a clock that is set forward asks once', async () => {
  const { clock, heard, liveness } = watched();
  clock.set(HOUR_MS);
  await clock.pass(33_000);
  expect(heard).toEqual(['asleep']);
  liveness.heard();
  await clock.pass(32_999);
  expect(heard).toEqual(['asleep']);
});
