import { expect, test } from 'vitest';
import { CoreRun } from '../../../support/core-run.ts';
import { created, message, recalled } from '../../../support/events.ts';

const ben = { user: 'ben', conv: 'c1' };

function started(): CoreRun {
  const run = new CoreRun();
  run.post(created(['ann', 'ben']), message('m1', 'ann'), message('m9', 'ann', { seq: 9 }));
  return run;
}

test('[LC5] mute changes the flag and no count; the same again changes nothing', () => {
  const run = started();
  expect(run.prefs({ ...ben, muted: true }).outcomes).toEqual([{ conv: 'c1', status: 'applied', readSeq: 0 }]);
  expect(run.row('ben', 'c1')).toMatchObject({ unread: 2, muted: true });
  expect(run.prefs({ ...ben, muted: true })).toEqual({
    outcomes: [{ conv: 'c1', status: 'stale', readSeq: 0 }],
    changed: [],
  });
  run.prefs({ ...ben, muted: false, hidden: true });
  expect(run.row('ben', 'c1')).toMatchObject({ muted: false, hidden: true });
});

test('[LC4] hide keeps the count; unhide brings it back whole', () => {
  const run = started();
  run.prefs({ ...ben, hidden: true });
  expect(run.row('ben', 'c1')).toMatchObject({ unread: 2, hidden: true });
  expect(run.prefs({ ...ben, hidden: true }).changed).toEqual([]);
  run.prefs({ ...ben, hidden: false });
  expect(run.row('ben', 'c1')).toMatchObject({ unread: 2, hidden: false });
  expect(run.prefs({ ...ben, hidden: false }).changed).toEqual([]);
});

test('[LC4][DT2] a new countable message of anybody brings it back, a notice or a recalled one does not', () => {
  const hidden = (run: CoreRun) => run.row('ben', 'c1')?.hidden;
  const run = started();
  run.prefs({ ...ben, hidden: true });
  run.post(recalled('m11'));
  run.post(message('m10', 'ann', { countable: false }), message('m11', 'ann'));
  expect(hidden(run)).toBe(true);
  run.post(message('m12', 'ben'));
  expect(hidden(run)).toBe(false);
  run.prefs({ ...ben, hidden: true });
  run.post(message('m13', 'ann'), recalled('m13'));
  expect(hidden(run)).toBe(false);
});

test('[LC4][OR3] so does one inserted late, but not one from before it was hidden', () => {
  const run = started();
  run.post(message('m5', 'ann', { seq: 5 }));
  run.prefs({ ...ben, hidden: true });
  expect(run.row('ben', 'c1')).toMatchObject({ unread: 3, hidden: true });
  run.post(message('m6', 'ann', { seq: 6 }));
  expect(run.row('ben', 'c1')).toMatchObject({ unread: 4, hidden: false });
  run.prefs({ ...ben, hidden: true });
  expect(run.row('ben', 'c1')).toMatchObject({ unread: 4, hidden: true });
});

test('[AK3] of a conversation without the user they are unknown', () => {
  expect(started().prefs({ user: 'cat', conv: 'c1', muted: true }).outcomes).toEqual([
    { conv: 'c1', status: 'unknown' },
  ]);
});
