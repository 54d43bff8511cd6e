import { describe, expect, test } from 'vitest';
import { CoreRun } from '../../../support/core-run.ts';
import { created, dissolved, joined, message, purged, recalled } from '../../../support/events.ts';

describe('dissolving', () => {
  test('[LC2] is the end for every member, once', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben']), message('m1', 'ann'));
    expect(run.post(dissolved()).changes).toMatchObject([{ op: 'leave', part: null, touched: [] }]);
    expect(run.row('ann', 'c1')).toMatchObject({ member: false });
    expect(run.row('ben', 'c1')).toMatchObject({ member: false });
    const again = run.post(dissolved());
    expect([again.results, again.changes]).toEqual([[{ ok: true }], []]);
  });

  test('[DT4] of an unknown conversation is refused', () => {
    const run = new CoreRun();
    expect(run.post(dissolved()).results).toMatchObject([{ error: { code: 'unknown_conversation' } }]);
    expect(run.post(purged(1)).results).toMatchObject([{ error: { code: 'unknown_conversation' } }]);
  });
});

describe('purging', () => {
  /** ann: m1, m2, m4; ben: m3, m5. */
  function started(): CoreRun {
    const run = new CoreRun();
    run.post(created(['ann', 'ben']));
    run.post(...[1, 2, 4].map((seq) => message(`m${seq}`, 'ann', { seq, mentions: ['ben'] })));
    run.post(message('m3', 'ben', { seq: 3 }), message('m5', 'ben', { seq: 5 }));
    return run;
  }

  test('[LC6] messages at or below are gone for counting', () => {
    const run = started();
    const { changes } = run.post(purged(2));
    expect(changes).toMatchObject([{ op: 'clear', part: null }]);
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 1, mentions: 1, floorSeq: 2, readSeq: 0 });
    expect(run.row('ann', 'c1')).toMatchObject({ unread: 2, floorSeq: 2 });
    run.post(recalled('m1'), recalled('m4'));
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 0, mentions: 0 });
  });

  test('[LC6][SY9] only ever rises', () => {
    const run = started();
    run.post(purged(4));
    expect(run.post(purged(3), purged(4)).changes).toEqual([]);
    expect(run.row('ann', 'c1')).toMatchObject({ unread: 1, floorSeq: 4 });
  });

  test('[LC6] above the head it takes nothing of what is still to come', () => {
    const run = started();
    run.post(purged(99));
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 0, floorSeq: 5 });
    run.post(message('m6', 'ann'));
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 1 });
  });

  test('[LC6] sees the messages of its own batch', () => {
    const run = started();
    run.post(message('m6', 'ann'), message('m7', 'ann'), purged(6), joined(['cat']), message('m8', 'ann'));
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 2, floorSeq: 6 });
    expect(run.row('cat', 'c1')).toMatchObject({ unread: 1, floorSeq: 7 });
  });

  test('[LC6][OR3] a late message below it is gone as if it had come before, and brings nothing back', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben']), message('m9', 'ann', { seq: 9 }), purged(9));
    run.prefs({ user: 'ben', conv: 'c1', hidden: true });
    expect(run.post(message('m5', 'ann', { seq: 5 })).changes).toEqual([]);
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 0, hidden: true });
  });
});
