import { describe, expect, test } from 'vitest';
import { planResync } from '../../../src/core/resync-plan.ts';

const at = { epoch: 'e1', syncVersion: 40, tombstoneFloor: 10, digest: '0123456789ab' };
const cursor = (sync_version: number, epoch = 'e1') => ({ epoch, sync_version });

describe('[SY2] what a cursor is answered', () => {
  test('no cursor: a snapshot, first or requested', () => {
    expect(planResync(null, undefined, at)).toEqual({ mode: 'snapshot', reason: 'first' });
    expect(planResync(null, at.digest, at, 'requested')).toEqual({ mode: 'snapshot', reason: 'requested' });
  });

  test.each([0, 10, 39, 40, 41])('another epoch: a snapshot, whatever its number (%i)', (version) => {
    expect(planResync(cursor(version, 'e2'), undefined, at)).toEqual({ mode: 'snapshot', reason: 'epoch' });
  });

  test('an epoch is compared as it is written', () => {
    expect(planResync(cursor(40, 'E1'), undefined, at)).toEqual({ mode: 'snapshot', reason: 'epoch' });
  });

  test('ahead of the state: a snapshot', () => {
    expect(planResync(cursor(41), undefined, at)).toEqual({ mode: 'snapshot', reason: 'ahead' });
    expect(planResync(cursor(2 ** 53 - 1), at.digest, at)).toEqual({ mode: 'snapshot', reason: 'ahead' });
  });

  test('the floor of the tombstones is the oldest cursor that a delta can serve', () => {
    expect(planResync(cursor(9), undefined, at)).toEqual({ mode: 'snapshot', reason: 'floor' });
    expect(planResync(cursor(10), undefined, at)).toEqual({ mode: 'delta', sinceVersion: 10 });
  });

  test('behind: a delta, whatever its digest says about the version it was made at', () => {
    expect(planResync(cursor(39), undefined, at)).toEqual({ mode: 'delta', sinceVersion: 39 });
    expect(planResync(cursor(39), 'ffffffffffff', at)).toEqual({ mode: 'delta', sinceVersion: 39 });
  });

  test('[SY7] the same version: noop, unless a digest is given and differs', () => {
    expect(planResync(cursor(40), undefined, at)).toEqual({ mode: 'noop' });
    expect(planResync(cursor(40), at.digest, at)).toEqual({ mode: 'noop' });
    expect(planResync(cursor(40), 'ffffffffffff', at)).toEqual({ mode: 'snapshot', reason: 'digest' });
  });

  test('a state just built: its own version is its floor', () => {
    const built = { ...at, syncVersion: 1, tombstoneFloor: 1 };
    expect(planResync(cursor(1), undefined, built)).toEqual({ mode: 'noop' });
    expect(planResync(cursor(0), undefined, built)).toEqual({ mode: 'snapshot', reason: 'floor' });
  });
});
