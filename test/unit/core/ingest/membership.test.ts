import { describe, expect, test } from 'vitest';
import { CoreRun } from '../../../support/core-run.ts';
import { created, dissolved, joined, left, message } from '../../../support/events.ts';

describe('creating', () => {
  test('[LC1] founding members have floor 0, and a conversation may have none', () => {
    const run = new CoreRun();
    const { results, changes } = run.post(created(['ann', 'ben', 'ann']), created([], { conv: 'c2' }));
    expect(results).toEqual([{ ok: true }, { ok: true }]);
    expect(changes).toMatchObject([
      { conv: 'c1', fromRev: 0, toRev: 1, op: 'join', memberCount: 2, memberCountBefore: 0, touched: ['ann', 'ben'] },
      { conv: 'c2', fromRev: 0, toRev: 1, op: 'join', memberCount: 0, touched: [] },
    ]);
    expect(run.row('ann', 'c1')).toMatchObject({ member: true, unread: 0, floorSeq: 0 });
    expect(run.base.conversation('c2')).toMatchObject({ memberCount: 0, rev: 1 });
  });

  test('[DT4][LC1] on a known conversation adds who is missing, at its head, and leaves the others as they are', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben']), message('m1', 'ann'), message('m2', 'ann'));
    run.ack('ben', { conv: 'c1', seq: 1 });
    const { changes } = run.post(created(['ann', 'ben', 'cat']));
    expect(changes).toMatchObject([{ op: 'join', touched: ['cat'], part: { messages: [] } }]);
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 1, readSeq: 1 });
    expect(run.row('cat', 'c1')).toMatchObject({ unread: 0, readSeq: 0, floorSeq: 2 });
    expect(run.post(created(['ann', 'cat'])).changes).toEqual([]);
  });
});

describe('joining', () => {
  test('[LC1] what was written before does not count, what comes after does, also in one batch', () => {
    const run = new CoreRun();
    run.post(created(['ann']), message('m1', 'ann', { mention_all: true }));
    run.post(message('m2', 'ann'), joined(['ben']), message('m3', 'ann'));
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 1, mentions: 0, floorSeq: 2, readSeq: 0 });
  });

  test('[LC1][LC2] leaving and rejoining starts anew; the revs go on', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben']), message('m1', 'ann'), message('m2', 'ben'));
    run.ack('ben', { conv: 'c1', seq: 1 });
    run.mark({ user: 'ben', conv: 'c1' });
    run.prefs({ user: 'ben', conv: 'c1', muted: true, hidden: true });
    expect(run.post(left(['ben'])).changes).toMatchObject([
      { op: 'leave', touched: ['ben'], memberCount: 1, memberCountBefore: 2 },
    ]);
    expect(run.row('ben', 'c1')).toMatchObject({ member: false });
    run.post(message('m3', 'ann'), joined(['ben']));
    const fresh = { member: true, unread: 0, readSeq: 0, readEpoch: 0, muted: false, marked: false, hidden: false };
    expect(run.row('ben', 'c1')).toMatchObject({ ...fresh, floorSeq: 3, memberRev: 6 });
    run.post(message('m4', 'ben'), message('m5', 'ann'));
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 1 });
  });

  test('[CN9] join, leave and join in one batch raise each rev once', () => {
    const run = new CoreRun();
    run.post(created(['ann']));
    const { changes } = run.post(joined(['ben']), left(['ben']), joined(['ben']));
    expect(changes).toMatchObject([{ fromRev: 1, toRev: 2, op: 'merged', touched: ['ben'], memberCount: 2 }]);
    expect(run.row('ben', 'c1')).toMatchObject({ member: true, memberRev: 1, convRev: 2 });
    expect(run.base.conversation('c1')?.membersRev).toBe(4);
  });

  test('[CN9][SY9] joining or leaving a second time changes nothing', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben']), left(['ben']));
    const { results, changes } = run.post(joined(['ann']), left(['ben']), left(['nobody']));
    expect(results).toEqual([{ ok: true }, { ok: true }, { ok: true }]);
    expect(changes).toEqual([]);
    expect(run.row('nobody', 'c1')).toBeNull();
  });

  test('[DT4] in an unknown conversation is refused', () => {
    const run = new CoreRun();
    const error = { code: 'unknown_conversation', field: 'conv' };
    expect(run.post(joined(['ann']), left(['ann'])).results).toMatchObject([{ error }, { error }]);
  });

  test('[LC2] a dissolved conversation takes nobody in, and lets go without effect', () => {
    const run = new CoreRun();
    run.post(created(['ann']), dissolved());
    const { results, changes } = run.post(joined(['ben']), created(['ben']), left(['ann']));
    const refused = { ok: false, error: { code: 'conversation_dissolved' } };
    expect(results).toMatchObject([refused, refused, { ok: true }]);
    expect(changes).toEqual([]);
  });
});

describe('member_version', () => {
  test("[CN9] an older one than the member's last is without effect", () => {
    const run = new CoreRun();
    run.post(created(['ann']), joined(['ben'], { member_version: 5 }));
    expect(run.post(left(['ben'], { member_version: 4 })).changes).toEqual([]);
    expect(run.row('ben', 'c1')).toMatchObject({ member: true });
    run.post(left(['ben'], { member_version: 6 }), joined(['ben'], { member_version: 5 }));
    expect(run.row('ben', 'c1')).toMatchObject({ member: false });
  });

  test('[CN9] a leave that overtakes its join is remembered', () => {
    const run = new CoreRun();
    run.post(created(['ann']));
    expect(run.post(left(['ben'], { member_version: 2 })).changes).toEqual([]);
    expect(run.post(joined(['ben', 'cat'], { member_version: 1 })).changes).toMatchObject([{ touched: ['cat'] }]);
    expect(run.row('ben', 'c1')).toMatchObject({ member: false });
    run.post(joined(['ben'], { member_version: 3 }));
    expect(run.row('ben', 'c1')).toMatchObject({ member: true });
  });

  test('[CN9] it is remembered too where the event itself changes nothing', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben']), left(['ben']));
    expect(run.post(joined(['ann'], { member_version: 7 }), left(['ben'], { member_version: 7 })).changes).toEqual([]);
    const { changes } = run.post(left(['ann'], { member_version: 6 }), joined(['ben'], { member_version: 6 }));
    expect(changes).toEqual([]);
  });

  test('[CN9] without one, events count in the order they come', () => {
    const run = new CoreRun();
    run.post(created(['ann']), joined(['ben'], { member_version: 5 }), left(['ben']));
    expect(run.row('ben', 'c1')).toMatchObject({ member: false });
    run.post(joined(['ben'], { member_version: 5 }));
    expect(run.row('ben', 'c1')).toMatchObject({ member: true });
  });
});
