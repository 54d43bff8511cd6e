import { expect, test } from 'vitest';
import { CoreRun } from '../../../support/core-run.ts';
import { created, joined, message, recalled } from '../../../support/events.ts';

const ben = { user: 'ben', conv: 'c1' };

/** Five messages, of which m2 is ben's own; all are read. */
function started(): CoreRun {
  const run = new CoreRun();
  run.post(created(['ann', 'ben']));
  run.post(...[1, 2, 3, 4, 5].map((n) => message(`m${n}`, n === 2 ? 'ben' : 'ann')));
  run.ack('ben', { conv: 'c1', seq: 5 });
  return run;
}

test('[AK7][CN1] mark unread from a message counts with the one rule', () => {
  const run = started();
  run.post(recalled('m4'), message('m6', 'ann', { countable: false }));
  const { outcomes, changed } = run.mark({ ...ben, fromSeq: 2 });
  expect(outcomes).toEqual([{ conv: 'c1', status: 'applied', readSeq: 1 }]);
  expect(changed).toEqual([{ conv: 'c1', user: 'ben' }]);
  expect(run.row('ben', 'c1')).toMatchObject({ unread: 2, readSeq: 1, readEpoch: 1, marked: false });
});

test('[AK7] not below a join, nor a clear, and like any read position not above the head', () => {
  const run = started();
  run.post(joined(['cat']), message('m6', 'ann'), message('m7', 'ann'));
  run.mark({ user: 'cat', conv: 'c1', fromSeq: 2 });
  expect(run.row('cat', 'c1')).toMatchObject({ unread: 2, readSeq: 5 });
  run.clear({ ...ben, upToSeq: 4 });
  run.mark({ ...ben, fromSeq: 0 });
  expect(run.row('ben', 'c1')).toMatchObject({ unread: 3, readSeq: 4 });
  run.mark({ ...ben, fromSeq: Number.MAX_SAFE_INTEGER });
  expect(run.row('ben', 'c1')).toMatchObject({ unread: 0, readSeq: 7 });
});

test('[AK7] without a seq it sets the flag, and starts a new read_epoch only when it does', () => {
  const run = started();
  expect(run.mark(ben).outcomes).toEqual([{ conv: 'c1', status: 'applied', readSeq: 5 }]);
  expect(run.row('ben', 'c1')).toMatchObject({ unread: 0, marked: true, readEpoch: 1 });
  expect(run.mark(ben)).toEqual({ outcomes: [{ conv: 'c1', status: 'stale', readSeq: 5 }], changed: [] });
  expect(run.row('ben', 'c1')).toMatchObject({ readEpoch: 1, memberRev: 3 });
});

test('[AK7] one that carries the read_epoch applies only at that one', () => {
  const run = started();
  const command = { ...ben, fromSeq: 3, readEpoch: 0 };
  expect(run.mark(command).outcomes).toMatchObject([{ status: 'applied' }]);
  run.ack('ben', { conv: 'c1', seq: 5 });
  expect(run.mark(command)).toEqual({ outcomes: [{ conv: 'c1', status: 'stale', readSeq: 5 }], changed: [] });
  expect(run.row('ben', 'c1')).toMatchObject({ unread: 0, readEpoch: 1 });
});

test('[AK7] mark from a message leaves the flag as it is', () => {
  const run = started();
  run.mark(ben);
  run.mark({ ...ben, fromSeq: 5 });
  expect(run.row('ben', 'c1')).toMatchObject({ unread: 1, marked: true, readEpoch: 2 });
});

test('[AK3] of a conversation without the user it is unknown', () => {
  expect(started().mark({ user: 'cat', conv: 'c1' })).toEqual({
    outcomes: [{ conv: 'c1', status: 'unknown' }],
    changed: [],
  });
});
