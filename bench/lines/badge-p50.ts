import { badgeLatency } from '../badge-latency.ts';
import type { Line } from '../line.ts';

export const badgeP50: Line = {
  name: 'message → badge, median',
  what: 'from the time a message is due to the frame at the last device, everything on this machine; open loop, 200 messages a second to 100',
  budget: { kind: 'at most', bound: 5, unit: 'ms' },
  async run() {
    const { p50, updatesASecond } = await badgeLatency();
    return { value: p50, detail: `${updatesASecond} badge updates a second` };
  },
};
