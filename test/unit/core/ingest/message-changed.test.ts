import { describe, expect, test } from 'vitest';
import { CoreRun } from '../../../support/core-run.ts';
import { created, dissolved, edited, message, recalled } from '../../../support/events.ts';

/** ann has written m1 (names ben), m2 and a notice m3; ben and cat have read nothing. */
function started(): CoreRun {
  const run = new CoreRun();
  run.post(created(['ann', 'ben', 'cat']));
  run.post(
    message('m1', 'ann', { mentions: ['ben'] }),
    message('m2', 'ann'),
    message('m3', 'ann', { countable: false }),
  );
  return run;
}

describe('recall', () => {
  test('[CN6] lowers unread and mentions of those who had it unread, and of nobody else', () => {
    const run = started();
    run.ack('cat', { conv: 'c1', seq: 2 });
    const { results, changes } = run.post(recalled('m1'));
    expect(results).toEqual([{ ok: true }]);
    expect(changes).toMatchObject([{ op: 'recall', part: null, touched: [] }]);
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 1, mentions: 0 });
    expect(run.row('cat', 'c1')).toMatchObject({ unread: 0 });
    expect(run.row('ann', 'c1')).toMatchObject({ unread: 0 });
    expect(run.base.message('c1', 1)).toMatchObject({ ord: 1, tookOrd: true, recalled: true });
    expect(run.base.adjustment('c1', 1)).toMatchObject({ delta: -1, sender: 'ann' });
  });

  test('[CN6][CN9][SY9] twice, by id and by seq, lowers once and changes nothing more', () => {
    const run = started();
    run.post(recalled('m1'), recalled(1));
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 1 });
    const again = run.post(recalled(1), recalled('m1'));
    expect([again.changes, again.writes.changedMessages, again.writes.adjustments]).toEqual([[], [], []]);
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 1 });
  });

  test('[CN5][CN6][SY9] of a message that does not count changes no rev', () => {
    const run = started();
    const { changes, writes } = run.post(recalled('m3'));
    expect([changes, writes.adjustments]).toEqual([[], []]);
    expect(run.base.message('c1', 3)).toMatchObject({ recalled: true });
  });

  test('[CN6] the watermark survives the recall of the message it points at', () => {
    const run = started();
    run.ack('ben', { conv: 'c1', seq: 2 });
    run.post(recalled('m2'));
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 0, readSeq: 2 });
    run.post(message('m4', 'ann'));
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 1, readSeq: 2 });
  });

  test('[CN6] of a message of the same batch', () => {
    const run = started();
    const { changes, writes } = run.post(message('m4', 'ann', { mentions: ['ben'] }), recalled('m4'));
    expect(changes).toMatchObject([{ op: 'merged', part: null }]);
    expect(writes.newMessages).toMatchObject([{ messageId: 'm4', recalled: true }]);
    expect(writes.changedMessages).toEqual([]);
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 2, mentions: 1, headSeq: 4 });
  });

  test('[OR3][CN6] of a late insert takes its adjustment back and keeps its number', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben']), message('m9', 'ann', { seq: 9 }));
    run.prefs({ user: 'ben', conv: 'c1', hidden: true });
    run.post(message('m5', 'ann', { seq: 5 }));
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 2, hidden: false });
    run.post(recalled('m5'));
    expect(run.base.adjustment('c1', 5)).toMatchObject({ delta: 0, lateNo: 1 });
    // It has come back, and nothing hides it again.
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 1, hidden: false });
  });

  test('[DT4] by a seq without a message it is refused; of an unknown conversation too', () => {
    const run = started();
    const { results } = run.post(recalled(4), recalled('m1', { conv: 'c9' }));
    expect(results).toMatchObject([
      { ok: false, error: { code: 'unknown_message', field: 'seq' } },
      { ok: false, error: { code: 'unknown_conversation', field: 'conv' } },
    ]);
  });

  test('[LC2] in a dissolved conversation recalls and edits are accepted without effect', () => {
    const run = started();
    run.post(dissolved());
    const { results, changes } = run.post(recalled('m1'), recalled('m7'), edited('m2', { mention_all: true }));
    expect(results).toEqual([{ ok: true }, { ok: true }, { ok: true }]);
    expect([changes, run.base.parkedCount()]).toEqual([[], 0]);
  });
});

describe('edit', () => {
  test('[CN7] replaces the mention set; unread does not rise', () => {
    const run = started();
    const { changes } = run.post(edited('m1', { mentions: ['cat', 'ann'] }));
    expect(changes).toMatchObject([{ op: 'edit', part: null }]);
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 2, mentions: 0 });
    expect(run.row('cat', 'c1')).toMatchObject({ unread: 2, mentions: 1 });
    run.post(edited(2, { mention_all: true }));
    expect(run.row('ann', 'c1')).toMatchObject({ unread: 0, mentions: 0 });
    expect(run.row('cat', 'c1')).toMatchObject({ unread: 2, mentions: 2 });
  });

  test('[CN7] a read message never becomes unread', () => {
    const run = started();
    run.ack('ben', { conv: 'c1', seq: 2 });
    run.post(edited('m2', { mentions: ['ben'], mention_all: true, countable: true }));
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 0, mentions: 0 });
  });

  test('[DT4] what is left out stays, also what an earlier edit has set', () => {
    const run = started();
    run.post(edited('m1', { mention_all: true }));
    expect(run.post(edited('m1')).changes).toEqual([]);
    expect(run.row('cat', 'c1')).toMatchObject({ mentions: 1 });
    run.post(edited('m1', { mentions: [] }));
    expect(run.row('cat', 'c1')).toMatchObject({ mentions: 1 });
    run.post(edited('m1', { mentions: ['cat'] }), edited('m1', { mention_all: false }));
    expect(run.row('ben', 'c1')).toMatchObject({ mentions: 0 });
    expect(run.row('cat', 'c1')).toMatchObject({ mentions: 1 });
  });

  test('[CN7][SY9] that says what already stands changes nothing', () => {
    const run = started();
    const { changes, writes } = run.post(edited('m1', { mentions: ['ben', 'ann'], mention_all: false }));
    expect([changes, writes.mentions, writes.changedMessages]).toEqual([[], [], []]);
    expect(run.post(edited('m1', { mentions: ['cat'] })).changes).toHaveLength(1);
  });

  test('[CN7] countable:false takes the message out for good, with its mentions', () => {
    const run = started();
    run.post(edited('m1', { countable: false, mentions: ['ben'] }));
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 1, mentions: 0 });
    expect(run.base.message('c1', 1)).toMatchObject({ countable: false, mentionAll: false });
    const { changes } = run.post(
      edited('m1', { countable: true, mention_all: true }),
      edited('m1', { countable: false }),
      recalled('m1'),
    );
    expect(changes).toEqual([]);
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 1, mentions: 0 });
  });

  test('[CN5][CN7] countable:true does not make a notice count', () => {
    const run = started();
    expect(run.post(edited('m3', { countable: true, mentions: ['ben'] })).changes).toEqual([]);
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 2, mentions: 1 });
  });

  test('[CN7] by id and by seq in one batch are edits of one message', () => {
    const run = started();
    run.post(
      edited('m1', { mentions: ['cat'] }),
      edited(1, { mention_all: true }),
      edited('m1', { mention_all: false }),
    );
    expect(run.row('ben', 'c1')).toMatchObject({ mentions: 0 });
    expect(run.row('cat', 'c1')).toMatchObject({ mentions: 1 });
    run.post(recalled(1), edited('m1', { countable: false }), edited('m2', { mention_all: true }), recalled(2));
    expect(run.row('cat', 'c1')).toMatchObject({ unread: 0, mentions: 0 });
    expect(run.base.message('c1', 1)).toMatchObject({ recalled: true, countable: true });
  });
});
