import { badgeLatency } from '../badge-latency.ts';
import type { Line } from '../line.ts';

export const badgeP99: Line = {
  name: 'message → badge, p99',
  what: 'the same run: the one of a hundred that takes longest',
  budget: { kind: 'at most', bound: 20, unit: 'ms' },
  async run() {
    const { p95, p99 } = await badgeLatency();
    return { value: p99, detail: `p95 ${p95.toFixed(1)} ms` };
  },
};
