import { describe, expect, test } from 'vitest';
import { buildUserState, headOf } from '../../../src/core/user-state.ts';
import { PushedChange } from '../../../src/gateway/pushed-change.ts';
import { heldRow } from '../../support/held-rows.ts';
import { greeted, kinds, Line } from '../../support/outbound-line.ts';

describe('acked', () => {
  const items = [{ conv: 'c1', status: 'applied' as const, read_seq: 1, unread: 0 }];

  test('comes after the delta that carries its effect, with where the socket stands', async () => {
    const line = await greeted();
    line.stream.isReading = false;
    line.push({ c2: 1 });
    const change = line.push({ c1: 5 }, 'read');
    line.ack(7, items, change, 3);
    line.push({ c2: 2 });
    line.stream.read();
    const frames = await line.arrive();
    expect(kinds(frames)).toEqual(['delta', 'delta', 'acked']);
    expect(frames[2]).toMatchObject({
      id: 7,
      items,
      sync_version: 4,
      total: headOf(line.state).total,
      digest: headOf(line.state).digest,
    });
    expect(line.unloaded).toBe(3);
    line.mustBeSettled();
  });

  test.each([true, false])(
    'that overtakes its push waits for it, and no longer (taken at once: %s)',
    async (takesAtOnce) => {
      const line = await greeted();
      line.stream.takesAtOnce = takesAtOnce;
      const change = line.change({ c1: 5 }, 'read');
      line.ack(1, items, change, 1);
      expect(await line.arrive()).toEqual([]);
      line.outbound.offer(new PushedChange(change));
      expect(kinds(await line.arrive())).toEqual(['delta', 'acked']);
    },
  );

  test('whose push was lost is sent all the same, after what was read from the state', async () => {
    const line = await greeted();
    line.ack(1, items, line.change({ c1: 5 }, 'read'), 1);
    await line.arrive();
    await line.clock.pass(100);
    expect(kinds(await line.arrive())).toEqual(['delta', 'acked']);
    line.mustBeSettled();
  });

  test('[DT8] is an error with the advice to send again where its version does not come in time, and nothing follows that', async () => {
    const line = await greeted();
    line.heldReads = [];
    const change = line.change({ c1: 5 }, 'read');
    line.ack(1, items, change, 3);
    line.ack(2, items, change, 3);
    await line.clock.pass(2600);
    const frames = await line.arrive();
    expect(frames.map(({ t, ...rest }) => [t, 'id' in rest ? rest.id : null])).toEqual([
      ['error', 1],
      ['error', 2],
    ]);
    expect(frames[0]).toMatchObject({ code: 'unavailable', retry_ms: 1000 });
    expect(line.unloaded).toBe(6);
    line.heldReads = null;
    await line.clock.pass(5000);
    expect(kinds(await line.arrive())).toEqual(['delta']);
    line.mustBeSettled();
  });

  test('of another epoch comes after the snapshot of that epoch has been announced', async () => {
    const line = await greeted();
    line.state = buildUserState('u1', 'epoch2', [heldRow('c7')]);
    line.ack(1, items, headOf(line.state), 1);
    expect(kinds(await line.arrive())).toEqual(['synced', 'acked', 'snapshot']);
    line.mustBeSettled();
  });

  test('of an epoch that is over is not held for ever', async () => {
    const line = await greeted();
    line.ack(1, items, { ...headOf(line.state), epoch: 'epoch0', syncVersion: 99 }, 1);
    expect(kinds(await line.arrive())).toEqual(['acked']);
  });

  test('answers before the welcome wait for it', async () => {
    const line = new Line([heldRow('c1')]);
    line.heldReads = [];
    line.hello();
    line.ack(1, items, headOf(line.state), 1);
    line.outbound.note({ t: 'auth_ok', expires_at: 5 }, 1);
    line.outbound.beat(1);
    expect(await line.arrive()).toEqual([]);
    line.heldReads.splice(0).forEach((release) => release());
    line.heldReads = null;
    expect(kinds(await line.arrive())).toEqual(['welcome', 'acked', 'hb', 'auth_ok', 'snapshot']);
  });

  test('a thousand large answers go out in writes of bounded size', async () => {
    const line = await greeted();
    line.stream.isReading = false;
    line.push({ c1: 2 });
    const many = Array.from({ length: 200 }, (_, n) => ({ conv: `conversation-${n}`, status: 'stale' as const }));
    for (let id = 1; id <= 1000; id++) line.ack(id, many, headOf(line.state), 1);
    await line.arrive();
    line.stream.read();
    let largest = 0;
    for (let seen = 0; seen < 1000;) {
      largest = Math.max(largest, line.stream.writableLength);
      seen += (await line.arrive()).filter(({ t }) => t === 'acked').length;
    }
    expect(largest).toBeLessThan(200_000);
    expect(line.unloaded).toBe(1000);
  });
});

describe('the end', () => {
  test('a socket that may not be written to is written nothing', async () => {
    const line = await greeted();
    line.mayWriteNow = false;
    line.push({ c1: 2 });
    line.outbound.note({ t: 'auth_ok', expires_at: 1 }, 1);
    line.outbound.beat(0);
    expect(await line.arrive()).toEqual([]);
    expect(line.stream.pings).toBe(0);
  });

  test.each([true, false])(
    'a frame that cannot be made ends this socket, not whoever pushed it (idle: %s)',
    async (isIdle) => {
      const line = await greeted();
      line.stream.isReading = isIdle;
      if (!isIdle) line.push({ c2: 1 });
      const change = line.change({ c1: 2 });
      const rows = change.rows.map((row) => ({ ...row, unread: 1n as unknown as number }));
      line.outbound.offer(new PushedChange({ ...change, rows }));
      line.stream.read();
      await line.arrive();
      expect(line.faults).toEqual([expect.any(TypeError)]);
    },
  );

  test('a write that does not end is noticed; one that does is not', async () => {
    const line = await greeted();
    const start = line.clock.nowMs();
    line.stream.isReading = false;
    line.push({ c1: 2 });
    await line.clock.pass(10_000);
    expect([line.outbound.isStuckSince(start), line.outbound.isStuckSince(start - 1)]).toEqual([true, false]);
    line.stream.read();
    await line.arrive();
    expect(line.outbound.isStuckSince(line.clock.nowMs())).toBe(false);
  });

  test('a heartbeat that nobody asked for carries a ping of the transport', async () => {
    const line = await greeted();
    line.outbound.beat(1);
    await line.arrive();
    expect(line.stream.pings).toBe(0);
    line.outbound.beat(0);
    expect(kinds(await line.arrive())).toEqual(['hb']);
    expect(line.stream.pings).toBe(1);
  });
});
