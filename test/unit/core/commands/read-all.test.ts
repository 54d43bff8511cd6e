import { expect, test } from 'vitest';
import { readAllItems } from '../../../../src/core/commands/read-all.ts';
import type { HeldRow } from '../../../../src/core/row.ts';
import { CoreRun } from '../../../support/core-run.ts';
import { created, message } from '../../../support/events.ts';

function held(run: CoreRun, conv: string, version: number): HeldRow {
  const row = run.row('ben', conv);
  if (row === null) throw new Error(`ben has no row of ${conv}`);
  return { ...row, version };
}

/** Conversations c1 … c4 with two messages each. */
function started(): CoreRun {
  const run = new CoreRun();
  for (const conv of ['c1', 'c2', 'c3', 'c4']) {
    run.post(created(['ann', 'ben'], { conv }), message('m1', 'ann', { conv }), message('m2', 'ann', { conv }));
  }
  return run;
}

test('[AK8] rows that have not changed since move to the head held, the others are named and stay', () => {
  const run = started();
  const rows = [held(run, 'c1', 7), held(run, 'c2', 8)];
  // Came after the state had its rows: not held, so not read.
  run.post(message('m3', 'ann'));
  const { acks, stale } = readAllItems('ben', rows, 7);
  expect(stale).toEqual(['c2']);
  run.acks(acks);
  expect(run.row('ben', 'c1')).toMatchObject({ unread: 1, readSeq: 2 });
  expect(run.row('ben', 'c2')).toMatchObject({ unread: 2 });
});

test('[AK8] hidden rows and those cleared away move too; what is gone is not named', () => {
  const run = started();
  run.prefs({ user: 'ben', conv: 'c1', hidden: true });
  run.clear({ user: 'ben', conv: 'c2' });
  run.prefs({ user: 'ben', conv: 'c3', hidden: true });
  run.clear({ user: 'ben', conv: 'c4' });
  const rows = [held(run, 'c1', 3), held(run, 'c2', 3), held(run, 'c3', 9), held(run, 'c4', 9)];
  const { acks, stale } = readAllItems('ben', rows, 5);
  expect(acks.map(({ item }) => item)).toEqual([
    { conv: 'c1', seq: 2, read_epoch: 0 },
    { conv: 'c2', seq: 2, read_epoch: 0 },
  ]);
  expect(stale).toEqual(['c3']);
});

test('[AK7][AK8] a mark that the state did not know of stays', () => {
  const run = started();
  run.ack('ben', { conv: 'c1', seq: 2 });
  const { acks } = readAllItems('ben', [held(run, 'c1', 3)], 3);
  run.mark({ user: 'ben', conv: 'c1', fromSeq: 1 });
  run.acks(acks);
  expect(run.row('ben', 'c1')).toMatchObject({ unread: 2, readEpoch: 1 });
});

test('[AK7][AK8] clears `marked`, when it moves and when all is read already', () => {
  const run = started();
  run.ack('ben', { conv: 'c1', seq: 2 });
  run.mark({ user: 'ben', conv: 'c1' });
  run.mark({ user: 'ben', conv: 'c2' });
  run.acks(readAllItems('ben', [held(run, 'c1', 1), held(run, 'c2', 1)], 1).acks);
  expect(run.row('ben', 'c1')).toMatchObject({ unread: 0, marked: false });
  expect(run.row('ben', 'c2')).toMatchObject({ unread: 0, marked: false });
});

test('[AK8] without a version: all rows, present heads', () => {
  const run = started();
  const rows = [held(run, 'c1', 7), { ...held(run, 'c2', 8), member: false }];
  run.post(message('m3', 'ann'));
  const { acks, stale } = readAllItems('ben', rows, null);
  expect([acks.length, stale]).toEqual([1, []]);
  run.acks(acks);
  expect(run.row('ben', 'c1')).toMatchObject({ unread: 0, readSeq: 3 });
});

test('[AK8] rows that are read to their head cost nothing', () => {
  const run = started();
  run.ack('ben', { conv: 'c1', seq: 2 });
  run.ack('ben', { conv: 'c2', seq: 2 });
  run.mark({ user: 'ben', conv: 'c2' });
  const rows = ['c1', 'c2', 'c3'].map((conv) => held(run, conv, 3));
  const { acks, stale } = readAllItems('ben', rows, 3);
  expect(acks.map(({ item }) => item.conv)).toEqual(['c2', 'c3']);
  expect(stale).toEqual([]);
});
