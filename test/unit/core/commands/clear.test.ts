import { expect, test } from 'vitest';
import { CoreRun } from '../../../support/core-run.ts';
import { created, message, recalled } from '../../../support/events.ts';

const ben = { user: 'ben', conv: 'c1' };

/** ann has written m1 … m6. */
function started(): CoreRun {
  const run = new CoreRun();
  run.post(created(['ann', 'ben']));
  run.post(...[1, 2, 3, 4, 5, 6].map((n) => message(`m${n}`, 'ann')));
  return run;
}

test('[LC3] up to the head: cleared away, and back with the next message, counted from there', () => {
  const run = started();
  expect(run.clear(ben).outcomes).toEqual([{ conv: 'c1', status: 'applied', readSeq: 0 }]);
  expect(run.row('ben', 'c1')).toMatchObject({ unread: 0, away: true, floorSeq: 6, readSeq: 0 });
  run.post(message('n1', 'ann', { countable: false }));
  expect(run.row('ben', 'c1')).toMatchObject({ away: true });
  run.post(message('n2', 'ann'));
  expect(run.row('ben', 'c1')).toMatchObject({ unread: 1, away: false });
});

test('[LC3][DT2] an own message brings it back too', () => {
  const run = started();
  run.clear(ben);
  run.post(message('n1', 'ben'));
  expect(run.row('ben', 'c1')).toMatchObject({ unread: 0, away: false });
});

test('[LC3] up to a seq keeps the newer rest, and an older clear takes nothing', () => {
  const run = started();
  run.clear({ ...ben, upToSeq: 4 });
  expect(run.row('ben', 'c1')).toMatchObject({ unread: 2, away: false });
  const late = run.clear({ ...ben, upToSeq: 2 });
  expect(late).toEqual({ outcomes: [{ conv: 'c1', status: 'stale', readSeq: 0 }], changed: [] });
  expect(run.clear({ ...ben, upToSeq: 4 }).changed).toEqual([]);
  expect(run.row('ben', 'c1')).toMatchObject({ unread: 2, away: false });
});

test('[LC3][SY9] a late clear takes nothing of what came back, and the same again nothing more', () => {
  const run = started();
  run.clear(ben);
  expect(run.clear(ben).changed).toEqual([]);
  run.post(message('n1', 'ben'));
  run.clear({ ...ben, upToSeq: 5 });
  expect(run.row('ben', 'c1')).toMatchObject({ away: false });
  run.clear({ ...ben, upToSeq: 6 });
  expect(run.row('ben', 'c1')).toMatchObject({ away: true });
});

test('[LC3] above the head it is clamped', () => {
  const run = started();
  expect(run.clear({ ...ben, upToSeq: 60 }).outcomes).toMatchObject([{ status: 'clamped' }]);
  run.post(message('n1', 'ann'));
  expect(run.row('ben', 'c1')).toMatchObject({ unread: 1, away: false });
});

test('[LC3] with everything newer read, recalled or own it goes away', () => {
  const run = started();
  run.post(recalled('m6'), message('n1', 'ben'));
  run.ack('ben', { conv: 'c1', seq: 5 });
  run.clear({ ...ben, upToSeq: 3 });
  expect(run.row('ben', 'c1')).toMatchObject({ unread: 0, away: true, readSeq: 5, memberRev: 3 });
});

test('[LC3][OR3] a late message above the clear brings it back, one below does not', () => {
  const run = new CoreRun();
  run.post(created(['ann', 'ben']), message('m20', 'ann', { seq: 20 }));
  run.ack('ben', { conv: 'c1', seq: 20 });
  run.clear({ ...ben, upToSeq: 10 });
  run.post(message('m5', 'ann', { seq: 5, mentions: ['ben'] }));
  expect(run.row('ben', 'c1')).toMatchObject({ unread: 0, away: true });
  run.post(message('m15', 'ann', { seq: 15 }));
  expect(run.row('ben', 'c1')).toMatchObject({ unread: 0, away: false });
});

test('[LC3][LC4][OR3] a row that a late message brought back stays so when that message is cleared', () => {
  const run = new CoreRun();
  run.post(created(['ann', 'ben']), message('m10', 'ann', { seq: 10 }));
  run.prefs({ ...ben, hidden: true });
  run.post(message('m5', 'ann', { seq: 5 }));
  run.clear({ ...ben, upToSeq: 5 });
  expect(run.row('ben', 'c1')).toMatchObject({ unread: 1, hidden: false, away: false });

  run.ack('ben', { conv: 'c1', seq: 10 });
  run.clear({ ...ben, upToSeq: 6 });
  run.post(message('m8', 'ann', { seq: 8 }));
  run.mark({ ...ben, fromSeq: 10 });
  expect(run.row('ben', 'c1')).toMatchObject({ unread: 1, away: false });
  run.clear({ ...ben, upToSeq: 9 });
  expect(run.row('ben', 'c1')).toMatchObject({ unread: 1, away: false });
});

test('[LC3] the flags outlive it', () => {
  const run = started();
  run.prefs({ ...ben, muted: true });
  run.mark(ben);
  run.clear(ben);
  run.post(message('n1', 'ann'));
  expect(run.row('ben', 'c1')).toMatchObject({ unread: 1, muted: true, marked: true });
});

test('[AK3] of a conversation without the user it is unknown', () => {
  const unknown = { outcomes: [{ conv: 'c1', status: 'unknown' }], changed: [] };
  expect(started().clear({ user: 'cat', conv: 'c1' })).toEqual(unknown);
});
