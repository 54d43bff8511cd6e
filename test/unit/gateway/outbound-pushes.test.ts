import { describe, expect, test } from 'vitest';
import { buildUserState, headOf } from '../../../src/core/user-state.ts';
import { Unavailable } from '../../../src/errors.ts';
import { PushedChange } from '../../../src/gateway/pushed-change.ts';
import type { Change } from '../../../src/ports.ts';
import { heldRow } from '../../support/held-rows.ts';
import { deltas, greeted, kinds, Line } from '../../support/outbound-line.ts';

describe('pushes', () => {
  test('an idle socket is sent a change at once, based on where it stands', async () => {
    const line = await greeted();
    line.push({ c1: 2 });
    const [delta] = deltas(await line.arrive());
    expect(delta).toMatchObject({
      base_version: 1,
      sync_version: 2,
      op: 'message',
      total: 2,
      rows: [{ conv: 'c1', unread: 2 }],
    });
    line.mustBeSettled();
  });

  test('[SY3] while a write is under way changes merge to the last row of each conversation', async () => {
    const line = await greeted();
    line.stream.isReading = false;
    line.push({ c1: 2 });
    for (let n = 1; n <= 50; n++) line.push({ c1: n + 2, [`d${n % 5}`]: n });
    line.stream.read();
    const frames = deltas(await line.arrive());
    expect(frames.map(({ base_version, sync_version, rows }) => [base_version, sync_version, rows.length])).toEqual([
      [1, 2, 1],
      [2, 52, 6],
    ]);
    line.mustBeSettled();
  });

  test('merged changes of one kind keep its op, others are called merged', async () => {
    const line = await greeted();
    for (const [ops, op] of [
      [['read', 'read'], 'read'],
      [['read', 'message'], 'merged'],
    ] as const) {
      line.stream.isReading = false;
      line.push({ busy: line.state.syncVersion });
      for (const one of ops) line.push({ c1: line.state.syncVersion + 5 }, one);
      line.stream.read();
      expect(deltas(await line.arrive()).at(-1)?.op).toBe(op);
    }
  });

  test('nothing is read from the state while pushes follow on each other', async () => {
    const line = await greeted();
    const before = line.reads.length;
    for (let n = 2; n < 30; n++) {
      line.push({ c1: n });
      if (n % 3 === 0) await line.arrive();
    }
    await line.arrive();
    expect(line.reads.length).toBe(before);
    line.mustBeSettled();
  });

  test('a standing reader costs a mark: above the bound the rows are read again from where it stands', async () => {
    const line = await greeted();
    line.stream.isReading = false;
    line.push({ c1: 2 });
    for (let n = 0; n < 500; n++) line.push({ [`d${n}`]: 1 });
    const before = line.reads.length;
    line.stream.read();
    await line.arrive();
    expect(line.reads.slice(before)[0]).toBe(2);
    line.mustBeSettled();
  });

  test('what takes more than one frame to make up for is sent as a snapshot, which says why', async () => {
    const line = await greeted();
    line.stream.isReading = false;
    line.push({ c1: 2 });
    for (let n = 0; n < 2000; n++) line.push({ [`d${n}`]: 1 });
    line.stream.read();
    const synced = (await line.arrive()).find(({ t }) => t === 'synced');
    expect(synced).toMatchObject({ mode: 'snapshot', reason: 'floor', sync_version: 2002 });
    line.mustBeSettled();
  });

  test('a change set of a thousand rows is one delta (AK8); a larger one is a snapshot', async () => {
    const line = await greeted();
    line.push(Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`d${n}`, 1])));
    expect(deltas(await line.arrive()).map(({ rows }) => rows.length)).toEqual([1000]);
    line.push(Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`d${n}`, 2])));
    const frames = await line.arrive();
    expect([frames[0]?.t, deltas(frames).length]).toEqual(['synced', 0]);
    line.mustBeSettled();
  });
});

describe('[SY5] pushes around the read of the state', () => {
  test('what comes before the welcome is in it or follows it, never twice and never not at all', async () => {
    const line = new Line([heldRow('c1')]);
    line.heldReads = [];
    line.hello();
    line.push({ c1: 2 });
    line.push({ c2: 1 });
    expect(await line.arrive()).toEqual([]);
    for (const release of line.heldReads) release();
    line.heldReads = null;
    expect(kinds(await line.arrive())).toEqual(['welcome', 'delta', 'snapshot']);
    line.mustBeSettled();
  });

  test('a push at or below the version read is dropped', async () => {
    const line = new Line([heldRow('c1')]);
    const early = line.change({ c1: 2 });
    line.hello();
    line.outbound.offer(new PushedChange(early));
    expect(kinds(await line.arrive())).toEqual(['welcome', 'snapshot']);
    line.outbound.offer(new PushedChange(early));
    expect(await line.arrive()).toEqual([]);
    line.mustBeSettled();
  });

  test('a push that overlaps what the read brought goes out without the part that is known', async () => {
    const line = new Line([heldRow('c1')]);
    line.heldReads = [];
    line.hello();
    await line.arrive();
    line.heldReads.splice(0).forEach((release) => release());
    line.heldReads = null;
    await line.arrive();
    const first = line.change({ c1: 2 });
    const second = line.change({ c2: 1 });
    line.stream.isReading = false;
    line.outbound.offer(new PushedChange(first));
    line.outbound.offer(new PushedChange(first));
    line.outbound.offer(new PushedChange(second));
    line.outbound.offer(new PushedChange(first));
    line.stream.read();
    const frames = deltas(await line.arrive());
    expect(frames.map(({ base_version, sync_version }) => [base_version, sync_version])).toEqual([
      [1, 2],
      [2, 3],
    ]);
    line.mustBeSettled();
  });
});

describe('lost and strange pushes', () => {
  test('a gap between versions is read from the state', async () => {
    const line = await greeted();
    line.change({ c1: 2 });
    line.push({ c2: 1 });
    expect(deltas(await line.arrive()).map(({ base_version, sync_version }) => [base_version, sync_version])).toEqual([
      [1, 3],
    ]);
    line.mustBeSettled();
  });

  test('pushes in the wrong order end at the same rows', async () => {
    const line = await greeted();
    const changes = [2, 3, 4, 5].map((n) => line.change({ c1: n, [`d${n}`]: 1 }));
    for (const i of [3, 0, 2, 1]) line.outbound.offer(new PushedChange(changes[i] as Change));
    await line.arrive();
    line.mustBeSettled();
  });

  test('[SY10] another epoch: synced with a snapshot, unasked, before any other frame of it', async () => {
    const line = await greeted();
    line.state = buildUserState('u1', 'epoch2', [heldRow('c7'), heldRow('c8')]);
    line.push({ c7: 5 });
    const frames = await line.arrive();
    expect(frames[0]).toMatchObject({ t: 'synced', mode: 'snapshot', reason: 'epoch', epoch: 'epoch2' });
    line.mustBeSettled();
    line.push({ c8: 3 });
    expect(kinds(await line.arrive())).toEqual(['delta']);
  });

  test('[SY10] the news of a build, which has no rows, is enough', async () => {
    const line = await greeted();
    line.state = buildUserState('u1', 'epoch2', [heldRow('c7')]);
    const head = headOf(line.state);
    line.outbound.offer(
      new PushedChange({ ...head, user: 'u1', baseVersion: head.syncVersion, op: 'merged', rows: [] }),
    );
    expect(kinds(await line.arrive())).toEqual(['synced', 'snapshot']);
    line.mustBeSettled();
  });

  test('a late push of an epoch that is over changes nothing', async () => {
    const line = await greeted();
    const late = line.change({ c1: 9 });
    line.state = buildUserState('u1', 'epoch2', [heldRow('c7')]);
    line.push({ c7: 2 });
    await line.arrive();
    line.outbound.offer(new PushedChange(late));
    expect(await line.arrive()).toEqual([]);
    line.mustBeSettled();
  });

  test('an epoch that changes again while its news is being read', async () => {
    const line = await greeted();
    line.heldReads = [];
    line.state = buildUserState('u1', 'epoch2', [heldRow('c7')]);
    line.push({ c7: 2 });
    await line.arrive();
    line.state = buildUserState('u1', 'epoch3', [heldRow('c8')]);
    line.push({ c8: 4 });
    while (line.heldReads.length > 0) {
      line.heldReads.splice(0).forEach((release) => release());
      await line.arrive();
    }
    line.mustBeSettled();
    expect(line.device.state.epoch).toBe('epoch3');
  });

  test('a state that cannot be read: nothing wrong is shown, and it is tried again', async () => {
    const line = await greeted();
    line.failure = new Unavailable('away', 1000);
    line.change({ c1: 2 });
    line.push({ c2: 1 });
    for (let i = 0; i < 50; i++) line.push({ c3: i + 1 });
    expect(await line.arrive()).toEqual([]);
    expect(line.failures).toBe(1);
    await line.clock.pass(1000);
    await line.arrive();
    expect(line.failures).toBe(2);
    line.failure = null;
    await line.clock.pass(1000);
    await line.arrive();
    line.mustBeSettled();
  });

  test('a background comparison finds a push that was lost, and leaves alone one that is on its way', async () => {
    const line = await greeted();
    line.outbound.compare(headOf(line.state));
    expect(await line.arrive()).toEqual([]);
    line.change({ c1: 2 });
    line.outbound.compare(headOf(line.state));
    expect(kinds(await line.arrive())).toEqual(['delta']);
    line.stream.isReading = false;
    line.push({ c1: 3 });
    line.push({ c1: 4 });
    const before = line.reads.length;
    line.outbound.compare(headOf(line.state));
    line.stream.read();
    await line.arrive();
    expect(line.reads.length).toBe(before);
    line.mustBeSettled();
  });
});
