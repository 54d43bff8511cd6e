import { expect, test } from 'vitest';
import { createBackgroundFaults } from '../../../src/background-faults.ts';
import { Bug, Unavailable } from '../../../src/errors.ts';
import { createLog } from '../../../src/log.ts';
import { createHandClock } from '../../support/hand-clock.ts';

test('an outage is one line, and one a minute while it lasts; anything else is always a line', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('trace', { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
  const clock = createHandClock();
  const fault = createBackgroundFaults({ log, clock });
  const away = (): void => fault(new Unavailable('the state is away', 1000));

  for (let i = 0; i < 10; i++) away();
  fault(new Unavailable('truth is away', 1000));
  expect(lines.map(({ level, reason }) => [level, reason])).toEqual([
    ['warn', 'the state is away'],
    ['warn', 'truth is away'],
  ]);

  await clock.pass(60_000);
  away();
  expect(lines.at(-1)).toMatchObject({ reason: 'the state is away', failedSince: 9, msg: 'a store is away' });

  fault(new Bug('a'));
  fault(new Bug('a'));
  expect(lines.slice(3).map(({ level }) => level)).toEqual(['error', 'error']);
});
