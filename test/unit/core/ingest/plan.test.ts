import { describe, expect, test } from 'vitest';
import { CoreRun } from '../../../support/core-run.ts';
import { created, edited, joined, left, message, recalled } from '../../../support/events.ts';

describe('event_id', () => {
  test('[DT8] the same event again gets its first answer and changes nothing', () => {
    const run = new CoreRun();
    const events = [
      created(['ann', 'ben'], { event_id: 'e1' }),
      message('m1', 'ann', { event_id: 'e2' }),
      left(['ben'], { event_id: 'e3' }),
      joined(['ben'], { event_id: 'e4' }),
    ];
    run.post(...events);
    const again = run.post(...events.toReversed());
    expect(again.results).toEqual([
      { ok: true, duplicate: true },
      { ok: true, duplicate: true },
      { ok: true, seq: 1, duplicate: true },
      { ok: true, duplicate: true },
    ]);
    expect(again.changes).toEqual([]);
    expect(run.row('ben', 'c1')).toMatchObject({ member: true, memberRev: 1 });
  });

  test('[DT8] a different event under a known id is a conflict, in one batch too', () => {
    const run = new CoreRun();
    const { results } = run.post(
      created(['ann'], { event_id: 'e1' }),
      joined(['ben'], { event_id: 'e1' }),
      created(['ann'], { event_id: 'e1' }),
    );
    expect(results).toMatchObject([
      { ok: true },
      { ok: false, error: { code: 'event_id_conflict', field: 'event_id' } },
      { ok: true, duplicate: true },
    ]);
    expect(run.post(message('m1', 'ann', { event_id: 'e1' })).results).toMatchObject([
      { error: { code: 'event_id_conflict' } },
    ]);
    expect(run.row('ben', 'c1')).toBeNull();
  });

  test('[DT3] a refused event does not use up its event_id', () => {
    const run = new CoreRun();
    const event = message('m1', 'ann', { event_id: 'e1' });
    expect(run.post(event).results).toMatchObject([{ ok: false }]);
    expect(run.base.hasEvent('e1')).toBe(false);
    run.post(created(['ann', 'ben']));
    expect(run.post(event).results).toEqual([{ ok: true, seq: 1, duplicate: false }]);
  });

  test('[OR2][DT8] a known message under a new event_id is a duplicate, and so is that event', () => {
    const run = new CoreRun();
    run.post(created(['ann']), message('m1', 'ann', { seq: 4 }));
    const event = message('m1', 'ben', { event_id: 'e1' });
    expect(run.post(event, event).results).toEqual([
      { ok: true, seq: 4, duplicate: true },
      { ok: true, seq: 4, duplicate: true },
    ]);
  });
});

describe('a batch', () => {
  test('one bad event disturbs no other', () => {
    const run = new CoreRun();
    const { results } = run.post(
      created(['ann', 'ben']),
      message('m1', 'ann'),
      message('m2', 'ann', { conv: 'c9' }),
      recalled(7),
      message('m3', 'ann'),
    );
    expect(results.map(({ ok }) => ok)).toEqual([true, true, false, false, true]);
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 2 });
  });

  test('[SY9] raises the rev of each conversation that it changes, once', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben']), created(['ann'], { conv: 'c2' }), created(['ann'], { conv: 'c3' }));
    const { changes } = run.post(
      message('m1', 'ann'),
      message('m2', 'ann', { conv: 'c2' }),
      message('m3', 'ann'),
      joined(['ann'], { conv: 'c3' }),
    );
    expect(changes.map(({ conv, fromRev, toRev }) => [conv, fromRev, toRev])).toEqual([
      ['c1', 1, 2],
      ['c2', 1, 2],
    ]);
  });

  test('[SY3] names the messages at the head for the rows of others, and who needs more than that', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben']));
    const { changes } = run.post(
      message('m1', 'ann', { mentions: ['ben'] }),
      message('m2', 'ben', { mention_all: true, sender_read: true }),
      message('m3', 'ann', { countable: false }),
      joined(['cat']),
    );
    expect(changes).toMatchObject([
      {
        op: 'merged',
        membersRev: 3,
        memberCount: 3,
        memberCountBefore: 2,
        touched: ['ben', 'cat'],
        part: {
          conv: 'c1',
          fromRev: 1,
          toRev: 2,
          headSeq: 3,
          messages: [
            { seq: 1, sender: 'ann', counts: true, mentionAll: false, mentions: ['ben'] },
            { seq: 2, sender: 'ben', counts: true, mentionAll: true, mentions: [] },
            { seq: 3, sender: 'ann', counts: false, mentionAll: false, mentions: [] },
          ],
        },
      },
    ]);
  });

  test('the op is that of all its changes, or merged', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben']), message('m1', 'ann'), message('m2', 'ann'));
    const opOf = (...events: Parameters<typeof run.post>) => run.post(...events).changes.map(({ op }) => op);
    expect(opOf(message('m3', 'ann'), message('m4', 'ben'))).toEqual(['message']);
    expect(opOf(edited('m1', { mention_all: true }), joined(['ann']))).toEqual(['edit']);
    expect(opOf(recalled('m1'), recalled('m2'))).toEqual(['recall']);
    expect(opOf(recalled('m3'), message('m5', 'ann'))).toEqual(['merged']);
  });

  test('a message moves its conversation up in lists, a late one does not', () => {
    const run = new CoreRun();
    run.post(created(['ann']), created(['ann'], { conv: 'c2' }));
    run.post(message('m9', 'ann', { seq: 9 }));
    const activityOf = (conv: string) => run.base.conversation(conv)?.activity ?? 0;
    expect(activityOf('c1')).toBeGreaterThan(activityOf('c2'));
    run.post(message('m1', 'ann', { conv: 'c2', countable: false }));
    run.post(message('m5', 'ann', { seq: 5 }));
    expect(activityOf('c2')).toBeGreaterThan(activityOf('c1'));
  });

  test('the own ordinal of a sender moves without a rev of the member', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben']));
    const { changes } = run.post(message('m1', 'ann'), message('m2', 'ann'));
    expect(changes[0]?.touched).toEqual([]);
    expect(run.base.membership('c1', 'ann')).toMatchObject({ ownOrd: 2, rev: 1 });
  });
});
