import { describe, expect, test } from 'vitest';
import { CoreRun } from '../../../support/core-run.ts';
import { created, dissolved, edited, joined, left, message, purged, recalled } from '../../../support/events.ts';

const MAX = Number.MAX_SAFE_INTEGER;

describe('seq', () => {
  test('[DT3][OR1] seqs start at 1 and rise by one', () => {
    const run = new CoreRun();
    const { results } = run.post(created(['ann', 'ben']), message('m1', 'ann'), message('m2', 'ben'));
    expect(results.slice(1)).toEqual([
      { ok: true, seq: 1, duplicate: false },
      { ok: true, seq: 2, duplicate: false },
    ]);
  });

  test('[OR3] a seq above the head is used as it is', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben']));
    expect(run.post(message('m1', 'ann', { seq: 10 })).results).toEqual([{ ok: true, seq: 10, duplicate: false }]);
    expect(run.post(message('m2', 'ann')).results).toMatchObject([{ seq: 11 }]);
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 2, headSeq: 11 });
  });

  test('[DT3] a taken seq is an error of that event alone', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben']), message('m1', 'ann', { seq: 5 }));
    const { results } = run.post(message('m2', 'ann', { seq: 5 }), message('m3', 'ann'));
    expect(results).toMatchObject([
      { ok: false, error: { code: 'seq_taken', field: 'seq' } },
      { ok: true, seq: 6 },
    ]);
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 2 });
  });

  test('[DT3] above the last seq there is none: refused, while holes can still be filled', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben']), message('m1', 'ann', { seq: MAX }));
    expect(run.post(message('m2', 'ann')).results).toMatchObject([{ ok: false, error: { code: 'seq_taken' } }]);
    expect(run.post(message('m2', 'ann', { seq: MAX - 1 })).results).toMatchObject([{ ok: true, late: true }]);
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 2, headSeq: MAX });
  });
});

describe('a known message_id', () => {
  test('[OR2] answers its first seq, whatever else differs', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben']), message('m1', 'ann'));
    const again = run.post(
      message('m1', 'ben', { countable: false, mentions: ['ben'], seq: 77, members: ['cat'] }),
      message('m1', 'ann'),
    );
    expect(again.results).toEqual([
      { ok: true, seq: 1, duplicate: true },
      { ok: true, seq: 1, duplicate: true },
    ]);
    expect([again.changes, run.row('cat', 'c1')]).toEqual([[], null]);
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 1, mentions: 0, headSeq: 1 });
  });

  test('[OR2] twice in one batch', () => {
    const run = new CoreRun();
    const { results } = run.post(created(['ann', 'ben']), message('m1', 'ann'), message('m1', 'ann'));
    expect(results.slice(1)).toMatchObject([{ duplicate: false }, { duplicate: true, seq: 1 }]);
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 1 });
  });

  test('[OR2][LC2] also after the conversation has been dissolved; a new one is refused there', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben']), message('m1', 'ann'), dissolved());
    const { results } = run.post(message('m1', 'ann'), message('m2', 'ann'));
    expect(results).toMatchObject([
      { ok: true, seq: 1, duplicate: true },
      { ok: false, error: { code: 'conversation_dissolved' } },
    ]);
  });

  test('[DT3] is known per conversation', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben']), created(['ann', 'ben'], { conv: 'c2' }), message('m1', 'ann'));
    expect(run.post(message('m1', 'ann', { conv: 'c2' })).results).toMatchObject([{ duplicate: false }]);
  });
});

describe('who it counts for', () => {
  test('[CN1][CN4] everybody but the sender, whose mention of themselves is none', () => {
    const run = new CoreRun();
    const { changes, writes } = run.post(
      created(['ann', 'ben']),
      message('m1', 'ann', { mentions: ['ann', 'ben', 'ben'] }),
    );
    expect(run.row('ann', 'c1')).toMatchObject({ unread: 0, mentions: 0 });
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 1, mentions: 1 });
    expect(writes.mentions).toMatchObject([{ users: ['ben'] }]);
    expect(changes[0]?.part?.messages).toMatchObject([{ mentions: ['ben'] }]);
  });

  test('[CN2] a message that names the user and all is one mention', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben', 'cat']), message('m1', 'ann', { mentions: ['ben'], mention_all: true }));
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 1, mentions: 1 });
    expect(run.row('cat', 'c1')).toMatchObject({ unread: 1, mentions: 1 });
  });

  test('[CN5] a message that is not countable takes a seq and no ordinal, and names nobody', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben']), message('m1', 'ann'));
    run.post(message('m2', 'ann', { countable: false, mentions: ['ben'], mention_all: true }));
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 1, mentions: 0, headSeq: 2 });
    expect(run.base.message('c1', 2)).toMatchObject({ ord: 1, ownOrd: 1, tookOrd: false, mentionAll: false });
  });

  test('[DT4] a sender need not be a member, and has an own ordinal all the same', () => {
    const run = new CoreRun();
    run.post(created(['ann']), message('m1', 'bot'), message('m2', 'bot'));
    run.post(message('m3', 'bot', { sender_read: true }));
    expect(run.row('ann', 'c1')).toMatchObject({ unread: 3 });
    expect([1, 2, 3].map((seq) => run.base.message('c1', seq)?.ownOrd)).toEqual([1, 2, 3]);
    run.post(joined(['bot']), message('m4', 'ann'), message('m5', 'bot'));
    expect(run.row('bot', 'c1')).toMatchObject({ unread: 1 });
    expect(run.base.membership('c1', 'bot')).toMatchObject({ floorOwn: 3, ownOrd: 4 });
  });

  test('[DT4][LC1] `members` makes an unknown conversation, and adds to a known one who is missing', () => {
    const run = new CoreRun();
    expect(run.post(message('m1', 'ann')).results).toMatchObject([
      { ok: false, error: { code: 'unknown_conversation' } },
    ]);
    expect(run.post(message('m1', 'ann', { members: [] })).results).toMatchObject([{ ok: false }]);
    run.post(message('m1', 'ann', { members: ['ann', 'ben'] }));
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 1, floorSeq: 0 });
    run.post(message('m2', 'ann', { members: ['ann', 'ben', 'cat'] }));
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 2 });
    expect(run.row('cat', 'c1')).toMatchObject({ unread: 1, floorSeq: 1 });
  });
});

describe('reading by sending', () => {
  test('[AK6] sending reads nothing, unless the event says so', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben']), message('m1', 'ann'), message('m2', 'ben'));
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 1, readSeq: 0 });
    const { changes } = run.post(
      message('m3', 'ann'),
      message('m4', 'ben', { sender_read: true }),
      message('m5', 'ann'),
    );
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 1, readSeq: 4, memberRev: 2 });
    expect(changes).toMatchObject([{ op: 'message', touched: ['ben'] }]);
  });

  test('[AK6] it never takes the watermark back, and leaves `marked` as it is', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben']), message('m9', 'ann', { seq: 9 }));
    run.ack('ben', { conv: 'c1', seq: 9 });
    run.mark({ user: 'ben', conv: 'c1' });
    const { changes } = run.post(message('m3', 'ben', { seq: 3, sender_read: true }));
    expect(changes).toMatchObject([{ touched: [] }]);
    run.post(message('m10', 'ben', { sender_read: true }));
    expect(run.row('ben', 'c1')).toMatchObject({ readSeq: 10, marked: true });
  });

  test('[AK6][LC2] who has left has no watermark to move', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben']), left(['ben']));
    const { changes } = run.post(message('m1', 'ben', { sender_read: true }));
    expect(changes).toMatchObject([{ touched: [] }]);
  });
});

describe('a late insert', () => {
  test('[OR3] is put in place, counted by an adjustment and answered with late', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben']), message('m10', 'ann', { seq: 10 }), message('m20', 'ben', { seq: 20 }));
    const { results, changes, lateInserts } = run.post(message('m15', 'ben', { seq: 15, mentions: ['ann'] }));
    expect(results).toEqual([{ ok: true, seq: 15, duplicate: false, late: true }]);
    expect(changes).toMatchObject([{ op: 'message', part: null, touched: [] }]);
    expect(lateInserts).toBe(1);
    expect(run.base.message('c1', 15)).toMatchObject({ ord: 1, ownOrd: 0, tookOrd: false });
    expect(run.base.adjustment('c1', 15)).toEqual({ conv: 'c1', seq: 15, sender: 'ben', delta: 1, lateNo: 1 });
    expect(run.row('ann', 'c1')).toMatchObject({ unread: 2, mentions: 1, headSeq: 20 });
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 1 });
  });

  test('[OR3] below messages of its own batch', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben']));
    run.post(
      message('m10', 'ann', { seq: 10 }),
      message('m20', 'ben', { seq: 20 }),
      message('m15', 'ben', { seq: 15 }),
    );
    expect(run.base.message('c1', 15)).toMatchObject({ ord: 1, ownOrd: 0 });
    run.ack('ann', { conv: 'c1', seq: 12 });
    expect(run.row('ann', 'c1')).toMatchObject({ unread: 2 });
  });

  test('[OR3][CN9] below a watermark it is read', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben']), message('m10', 'ann', { seq: 10 }));
    run.ack('ben', { conv: 'c1', seq: 10 });
    run.post(message('m5', 'ann', { seq: 5, mentions: ['ben'] }));
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 0, mentions: 0, readSeq: 10 });
    run.mark({ user: 'ben', conv: 'c1', fromSeq: 5 });
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 2, mentions: 1 });
  });

  test('[SY9] one that counts for nobody changes no rev: not countable, recalled before, or purged', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben']), message('m10', 'ann', { seq: 10 }), purged(3), recalled('m6'));
    const { results, changes } = run.post(
      message('m5', 'ann', { seq: 5, countable: false }),
      message('m6', 'ann', { seq: 6 }),
      message('m2', 'ann', { seq: 2 }),
    );
    expect(results).toMatchObject([{ late: true }, { late: true }, { late: true }]);
    expect(changes).toEqual([]);
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 1, convRev: 1 });
  });
});

describe('a recall or edit that came before', () => {
  test('[DT4][CN6] is carried out when the message comes, and forgotten', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben']));
    expect(run.post(recalled('m1'), edited('m2', { mentions: ['ben'] })).results).toEqual([{ ok: true }, { ok: true }]);
    expect(run.base.parkedCount()).toBe(2);
    run.post(message('m1', 'ann', { mentions: ['ben'] }), message('m2', 'ann'));
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 1, mentions: 1 });
    expect(run.base.message('c1', 1)).toMatchObject({ ord: 0, tookOrd: false, recalled: true });
    expect(run.base.parkedCount()).toBe(0);
  });

  test('[DT4][CN7] several edits add up, in one batch or more', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben', 'cat']));
    run.post(edited('m1', { mentions: ['ben'] }), edited('m2', { countable: false }));
    run.post(edited('m1', { mention_all: false }), edited('m2', { mentions: ['ben'], countable: true }));
    run.post(message('m1', 'ann', { mentions: ['cat'], mention_all: true }), message('m2', 'ann'));
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 1, mentions: 1 });
    expect(run.row('cat', 'c1')).toMatchObject({ unread: 1, mentions: 0 });
  });

  test('[DT4][SY9] waiting, it changes no rev', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben']));
    expect(run.post(recalled('m1'), recalled('m1'), edited('m1', { mention_all: true })).changes).toEqual([]);
  });
});
