import { badgeRun } from '../load-run.ts';
import type { Line } from '../line.ts';

export const badgeP50: Line = {
  name: 'message → badge, median',
  what: 'from the time a message is due to the frame at each device, everything on this machine, the data in memory; open loop, 200 messages a second to 100',
  budget: { kind: 'at most', bound: 5, unit: 'ms' },
  async run() {
    const { figures, times } = await badgeRun();
    return {
      value: times['message → badge, hot']?.p50 ?? NaN,
      detail: `${figures['badge updates a second']} badge updates a second · event → answer ${times['event → answer']?.p50.toFixed(1)} ms`,
    };
  },
};
