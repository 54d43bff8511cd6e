import { describe, expect, test } from 'vitest';
import { ackRequest, draftAcks } from '../../../../src/core/commands/acks.ts';
import { CoreRun } from '../../../support/core-run.ts';
import { created, dissolved, joined, left, message, recalled } from '../../../support/events.ts';

const MAX = Number.MAX_SAFE_INTEGER;

/** ann has written five messages, ben none. */
function started(): CoreRun {
  const run = new CoreRun();
  run.post(created(['ann', 'ben', 'cat']));
  run.post(...[1, 2, 3, 4, 5].map((n) => message(`m${n}`, 'ann')));
  return run;
}

const statuses = ({ outcomes }: { outcomes: readonly { status: string }[] }) => outcomes.map(({ status }) => status);

describe('an ack', () => {
  test('[AK1] moves the watermark up, and never down', () => {
    const run = started();
    expect(run.ack('ben', { conv: 'c1', seq: 3 })).toEqual({
      outcomes: [{ conv: 'c1', status: 'applied', readSeq: 3 }],
      changed: [{ conv: 'c1', user: 'ben' }],
    });
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 2, readSeq: 3 });
    run.ack('ben', { conv: 'c1', seq: 2 });
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 2, readSeq: 3 });
  });

  test('[AK2] lower or equal is stale and changes nothing; 0 always is', () => {
    const run = started();
    expect(statuses(run.ack('ben', { conv: 'c1', seq: 0 }))).toEqual(['stale']);
    run.ack('ben', { conv: 'c1', seq: 3 });
    const stored = run.base.dump();
    const { outcomes, changed } = run.ack('ben', { conv: 'c1', seq: 3 }, { conv: 'c1', seq: 1 });
    const stale = { conv: 'c1', status: 'stale', readSeq: 3 };
    expect([outcomes, changed]).toEqual([[stale, stale], []]);
    expect(run.base.dump()).toBe(stored);
  });

  test('[AK1][AK2] above the head is clamped, so that nothing still to come is read', () => {
    const run = started();
    expect(run.ack('ben', { conv: 'c1', seq: MAX }).outcomes).toEqual([{ conv: 'c1', status: 'clamped', readSeq: 5 }]);
    expect(statuses(run.ack('ben', { conv: 'c1', seq: MAX }))).toEqual(['stale']);
    run.post(message('m6', 'ann'));
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 1, readSeq: 5 });
  });

  test('[AK3] an unknown conversation, or one without the user, is unknown for that item only', () => {
    const run = started();
    run.post(created(['ben'], { conv: 'c2' }), dissolved({ conv: 'c2' }), left(['cat']));
    const acked = run.ack('ben', { conv: 'c9', seq: 1 }, { conv: 'c1', seq: 1 }, { conv: 'c2', seq: 1 });
    expect(acked.outcomes).toEqual([
      { conv: 'c9', status: 'unknown' },
      { conv: 'c1', status: 'applied', readSeq: 1 },
      { conv: 'c2', status: 'unknown' },
    ]);
    expect(statuses(run.ack('cat', { conv: 'c1', seq: 5 }))).toEqual(['unknown']);
    run.post(joined(['cat']));
    expect(run.row('cat', 'c1')).toMatchObject({ readSeq: 0 });
  });

  test('[AK9] may name the message; one that is not known is unknown', () => {
    const run = started();
    const acked = run.ack('ben', { conv: 'c1', message_id: 'm2' }, { conv: 'c1', message_id: 'm9' });
    expect(acked.outcomes).toEqual([
      { conv: 'c1', status: 'applied', readSeq: 2 },
      { conv: 'c1', status: 'unknown' },
    ]);
  });

  test('[AK7] applies only at the read_epoch of the row; without one it means the current', () => {
    const run = started();
    run.ack('ben', { conv: 'c1', seq: 5 });
    run.mark({ user: 'ben', conv: 'c1', fromSeq: 2 });
    expect(
      statuses(run.ack('ben', { conv: 'c1', seq: 5, read_epoch: 0 }, { conv: 'c1', seq: 5, read_epoch: 2 })),
    ).toEqual(['stale', 'stale']);
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 4, readEpoch: 1 });
    expect(statuses(run.ack('ben', { conv: 'c1', seq: 3, read_epoch: 1 }, { conv: 'c1', seq: 4 }))).toEqual([
      'applied',
      'applied',
    ]);
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 1 });
  });

  test('[AK7] clears `marked` when it applies, or at the head with the current read_epoch', () => {
    const run = started();
    const marked = () => run.row('ben', 'c1')?.marked;
    run.ack('ben', { conv: 'c1', seq: 4 });
    run.mark({ user: 'ben', conv: 'c1' });
    run.ack('ben', { conv: 'c1', seq: 4 });
    run.ack('ben', { conv: 'c1', seq: 5, read_epoch: 0 });
    expect(marked()).toBe(true);
    run.ack('ben', { conv: 'c1', seq: 5 });
    expect(marked()).toBe(false);
    run.mark({ user: 'ben', conv: 'c1' });
    const acked = run.ack('ben', { conv: 'c1', seq: 5, read_epoch: 2 });
    expect(acked.outcomes).toEqual([{ conv: 'c1', status: 'stale', readSeq: 5 }]);
    expect(acked.changed).toHaveLength(1);
    expect(marked()).toBe(false);
  });

  test('[DT2] below a join or a clear it moves the watermark and not the count', () => {
    const run = started();
    run.clear({ user: 'ben', conv: 'c1', upToSeq: 4 });
    expect(statuses(run.ack('ben', { conv: 'c1', seq: 2 }))).toEqual(['applied']);
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 1, readSeq: 2, floorSeq: 4 });
    run.clear({ user: 'ben', conv: 'c1' });
    run.ack('ben', { conv: 'c1', seq: 3 });
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 0, readSeq: 3, away: true });
  });

  test('[CN1][CN4] at a place between own, recalled and missing messages, the count above it is exact', () => {
    const run = new CoreRun();
    run.post(created(['ann', 'ben']));
    const senders = ['ann', 'ben', 'ann', 'ben', 'ann', 'ben', 'ann'];
    run.post(...senders.map((sender, i) => message(`m${i}`, sender, { seq: 10 * (i + 1) })));
    run.post(recalled('m2'), recalled('m3'));
    run.ack('ben', { conv: 'c1', seq: 15 });
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 2 });
    run.ack('ben', { conv: 'c1', seq: 55 });
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 1 });
    expect(run.base.membership('c1', 'ben')).toMatchObject({ floorSeq: 55, floorOrd: 5, floorOwn: 2 });
  });
});

describe('acks of one transaction', () => {
  test('[AK2][AK4] follow on each other, each with its own answer, and raise the rev once', () => {
    const run = started();
    const acked = run.acks([
      { user: 'ben', item: { conv: 'c1', seq: 2 } },
      { user: 'cat', item: { conv: 'c1', seq: 4 } },
      { user: 'ben', item: { conv: 'c1', seq: 1 } },
      { user: 'ben', item: { conv: 'c1', seq: 4 } },
    ]);
    expect(acked.outcomes.map(({ status, readSeq }) => [status, readSeq])).toEqual([
      ['applied', 2],
      ['applied', 4],
      ['stale', 2],
      ['applied', 4],
    ]);
    expect(acked.changed).toEqual([
      { conv: 'c1', user: 'ben' },
      { conv: 'c1', user: 'cat' },
    ]);
    expect(run.row('ben', 'c1')).toMatchObject({ unread: 1, memberRev: 2 });
  });

  test('[AK5] touch nobody but their users', () => {
    const run = started();
    const before = [run.row('ann', 'c1'), run.row('cat', 'c1')];
    run.ack('ben', { conv: 'c1', seq: 5 });
    expect([run.row('ann', 'c1'), run.row('cat', 'c1')]).toEqual(before);
    expect(run.base.conversation('c1')?.rev).toBe(2);
  });

  test('places are looked up only where the facts do not tell them', () => {
    const run = started();
    const placesOf = (seq: number) => {
      const acks = [{ user: 'ben', item: { conv: 'c1', seq } }];
      return draftAcks(acks, run.base.load(ackRequest(acks))).places;
    };
    // To the head, by a reader who has written nothing; or nowhere.
    expect([placesOf(5), placesOf(0)]).toEqual([null, null]);
    expect(placesOf(3)).toEqual({ places: [{ conv: 'c1', seq: 3 }], ownPlaces: [] });
    run.post(message('m6', 'ben'), message('m7', 'ann'));
    expect(placesOf(7)).toEqual({ places: [], ownPlaces: [{ conv: 'c1', user: 'ben', seq: 7 }] });
  });
});
