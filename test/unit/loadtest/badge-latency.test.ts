import { describe, expect, test } from 'vitest';
import { BadgeLatency } from '../../../loadtest/badge-latency.ts';
import { Histogram } from '../../../loadtest/histogram.ts';
import type { Row, ServerFrame } from '../../../protocol/index.ts';

const SUMS = { total: 0, badge: 0, mentions: 0, digest: '0'.repeat(12) };

function delta(row: Partial<Row> & { head_seq: number }): ServerFrame {
  const whole = { conv: 'c', version: 1, unread: 0, mentions: 0, read_seq: 0, read_epoch: 0, ...row };
  return { t: 'delta', epoch: 'e', base_version: 1, sync_version: 2, rows: [whole], op: 'message', ...SUMS };
}

function latencyFrom(headSeq: number): { latency: BadgeLatency; times: Histogram } {
  const latency = new BadgeLatency();
  const times = new Histogram();
  latency.begin('c', headSeq, times);
  return { latency, times };
}

describe('message → badge', () => {
  test('counts each message once on each device, also when one frame shows several', () => {
    const { latency, times } = latencyFrom(0);
    const [phone, laptop] = [latency.watch('ann'), latency.watch('ann')];
    const dueMs = performance.now() - 5000;
    for (const seq of [1, 2, 3]) latency.posted('c', seq, dueMs, 'bob');
    phone(delta({ head_seq: 1 }));
    phone(delta({ head_seq: 1 }));
    phone(delta({ head_seq: 3 }));
    laptop(delta({ head_seq: 3 }));
    expect(latency.updates).toBe(6);
    expect(latency.frames).toBe(4);
    expect(times.count).toBe(6);
    expect(times.quantiles().p50).toBeGreaterThanOrEqual(5000);
  });

  test('a frame that is there before the answer to the post counts when the answer has been read', () => {
    const { latency, times } = latencyFrom(0);
    latency.watch('ann')(delta({ head_seq: 1 }));
    expect(latency.updates).toBe(0);
    latency.posted('c', 1, performance.now() - 5000, 'bob');
    expect(latency.updates).toBe(1);
    expect(times.quantiles().max).toBeGreaterThanOrEqual(5000);
  });

  test("one's own messages, and those from before the measurement, are no badge updates", () => {
    const { latency } = latencyFrom(2);
    const frame = latency.watch('ann');
    latency.posted('c', 2, 0, 'bob');
    latency.posted('c', 3, 0, 'ann');
    frame(delta({ head_seq: 3 }));
    expect(latency.updates).toBe(0);
    latency.posted('c', 4, 0, 'bob');
    frame(delta({ head_seq: 4 }));
    expect(latency.updates).toBe(1);
  });

  test('[CN8] what came while the row was capped was owed to nobody', () => {
    const { latency } = latencyFrom(0);
    const frame = latency.watch('ann');
    for (const seq of [1, 2, 3]) latency.posted('c', seq, 0, 'bob');
    frame(delta({ head_seq: 1, capped: true }));
    frame(delta({ head_seq: 2 }));
    frame(delta({ head_seq: 3 }));
    expect(latency.updates).toBe(2);
  });
});
