import { describe, expect, test } from 'vitest';
import type { ServerFrame } from '../../../protocol/index.ts';
import type { DerivedRow } from '../../../src/core/row.ts';
import { headOf } from '../../../src/core/user-state.ts';
import { PushedChange } from '../../../src/gateway/pushed-change.ts';
import { heldRow } from '../../support/held-rows.ts';
import { deltas, greeted, kinds, Line } from '../../support/outbound-line.ts';

describe('[SY2][SY6] answers and pages', () => {
  const many = (count: number): DerivedRow[] =>
    Array.from({ length: count }, (_, n) => heldRow(`c${n}`, { activity: n }));

  test('noop: the welcome alone', async () => {
    const line = await greeted();
    const cursor = { epoch: 'epoch1', sync_version: 1 };
    line.outbound.ask({ kind: 'sync', cursor, askedAtMs: 0 });
    expect(await line.arrive()).toMatchObject([{ t: 'synced', mode: 'noop', sync_version: 1 }]);
    expect(line.reads.at(-1)).toBe(1);
  });

  test('pages interleave with deltas, and the device ends where the state does', async () => {
    const line = new Line(many(30), 3);
    line.stream.isReading = false;
    line.hello();
    await line.arrive();
    for (let n = 0; n < 12; n++) {
      line.push({ [`c${n * 2}`]: n + 2, [`new${n}`]: 1 });
      line.stream.read();
      await new Promise((resolve) => setImmediate(resolve));
      line.stream.isReading = false;
    }
    line.stream.read();
    await line.arrive();
    const order = kinds(line.log);
    expect(order.indexOf('delta')).toBeGreaterThan(order.indexOf('snapshot'));
    expect(order.indexOf('delta')).toBeLessThan(order.lastIndexOf('snapshot'));
    expect(new Set(line.log.flatMap((frame) => (frame.t === 'snapshot' ? [frame.sync_version] : [])))).toEqual(
      new Set([1]),
    );
    line.mustBeSettled();
  });

  test('a row removed while pages are under way stays away', async () => {
    const line = new Line(many(6), 1);
    line.stream.isReading = false;
    line.hello();
    await line.arrive();
    line.outbound.offer(new PushedChange(line.leave('c0')));
    line.stream.read();
    await line.arrive();
    line.mustBeSettled();
    expect(line.device.unread('c0')).toBeUndefined();
  });

  test('a catch-up in several frames is not interrupted; what is pushed meanwhile follows it', async () => {
    const before = await greeted(many(5));
    const line = new Line(many(5));
    line.device.take(...before.log);
    for (let n = 0; n < 250; n++) line.change({ [`d${n}`]: 1 });
    line.stream.isReading = false;
    line.hello({ epoch: 'epoch1', sync_version: 1 });
    await line.arrive();
    line.push({ d0: 9 });
    line.outbound.beat(1);
    line.ack(1, [], headOf(line.state), 1);
    line.stream.read();
    const frames = await line.arrive();
    expect(kinds(frames)).toEqual(['welcome', 'delta', 'delta', 'delta', 'hb', 'delta', 'acked']);
    expect(deltas(frames).map(({ base_version, sync_version }) => [base_version, sync_version])).toEqual([
      [1, 101],
      [101, 201],
      [201, 251],
      [251, 252],
    ]);
    line.mustBeSettled();
  });

  test('a snapshot that broke off is resumed: first what changed since, then the rest', async () => {
    const rows = many(7);
    const line = new Line(rows, 2);
    line.stream.isReading = false;
    line.hello();
    await line.arrive();
    const [welcome, first] = (line.stream.read(), await line.arrive());
    expect(first).toMatchObject({ t: 'snapshot', page: 1 });
    const token = first?.t === 'snapshot' ? first.next : undefined;

    const again = new Line(rows, 2);
    again.state = line.state;
    again.device.take(welcome as ServerFrame, first as ServerFrame);
    line.change({ c6: 9 });
    line.change({ fresh: 2 });
    line.change({ c0: 4 });
    again.hello(null, { page: token });
    const frames = await again.arrive();
    expect(frames.map((frame) => [frame.t, 'sync_version' in frame && frame.sync_version])).toEqual([
      ['welcome', 1],
      ['delta', 4],
      ['snapshot', 1],
      ['snapshot', 1],
    ]);
    expect(frames.flatMap((frame) => (frame.t === 'snapshot' ? frame.rows.map(({ conv }) => conv) : []))).toEqual([
      'c4',
      'c3',
      'c2',
      'c1',
    ]);
    again.mustBeSettled();
  });

  test('[SY6] an unknown page token: the snapshot starts anew', async () => {
    const line = new Line(many(3), 2);
    line.hello(null, { page: 'no-such-token' });
    expect(kinds(await line.arrive())).toEqual(['welcome', 'snapshot', 'snapshot']);
    line.mustBeSettled();
  });

  test.each([
    ['at the present version', 2],
    ['behind', 1],
  ])('[DT5] an unknown page token with a cursor %s: the snapshot starts anew', async (_, sync_version) => {
    const line = new Line(many(3));
    line.change({ c0: 4 });
    line.hello({ epoch: 'epoch1', sync_version }, { page: 'no-such-token' });
    const frames = await line.arrive();
    expect(kinds(frames)).toEqual(['welcome', 'snapshot']);
    expect(frames[0]).toMatchObject({ mode: 'snapshot', reason: 'requested', sync_version: 2 });
    line.mustBeSettled();
  });

  test('a sync during a snapshot is answered when the snapshot is complete', async () => {
    const line = new Line(many(6), 1);
    line.stream.isReading = false;
    line.hello();
    await line.arrive();
    line.stream.read();
    await new Promise((resolve) => setImmediate(resolve));
    line.outbound.ask({ kind: 'sync', cursor: { epoch: 'epoch1', sync_version: 1 }, askedAtMs: 0 });
    const frames = await line.arrive();
    expect(kinds(frames).slice(-2)).toEqual(['snapshot', 'synced']);
    line.mustBeSettled();
  });

  test('every sync is answered, in order; more than a few at once are refused', async () => {
    const line = await greeted();
    line.heldReads = [];
    const cursor = { epoch: 'epoch1', sync_version: 1 };
    const taken = Array.from({ length: 30 }, () => line.outbound.ask({ kind: 'sync', cursor, askedAtMs: 0 }));
    const count = taken.filter(Boolean).length;
    expect([taken[0], taken.at(-1), count < 20]).toEqual([true, false, true]);
    let answered = (await line.arrive()).length;
    while (line.heldReads.length > 0) {
      line.heldReads.splice(0).forEach((release) => release());
      answered += (await line.arrive()).filter(({ t }) => t === 'synced').length;
    }
    expect(answered).toBe(count);
  });

  test('between two syncs everybody else is served', async () => {
    const line = await greeted();
    const waiting: (() => void)[] = [];
    line.clock.soon = (run) => void waiting.push(run);
    const before = line.reads.length;
    for (let i = 0; i < 3; i++) line.outbound.ask({ kind: 'sync', cursor: null, askedAtMs: 0 });
    for (let answered = 0; answered < 3; answered++) {
      expect(kinds(await line.arrive())).toEqual(answered === 0 ? [] : ['synced', 'snapshot']);
      expect([waiting.length, line.reads.length - before]).toEqual([1, answered]);
      waiting.shift()?.();
    }
    expect(kinds(await line.arrive())).toEqual(['synced', 'snapshot']);
  });

  test('[SY7] a wrong digest at our version: a snapshot, and it is reported', async () => {
    const line = await greeted();
    const cursor = { epoch: 'epoch1', sync_version: 1 };
    line.outbound.ask({ kind: 'sync', cursor, digest: 'ffffffffffff', askedAtMs: 0 });
    expect(await line.arrive()).toMatchObject([{ t: 'synced', mode: 'snapshot', reason: 'digest' }, { t: 'snapshot' }]);
    expect(line.divergedCalls).toBe(1);
    line.mustBeSettled();
  });
});
