import { hotGroup } from '../hot-group.ts';
import type { Line } from '../line.ts';

export const hotGroupGain: Line = {
  name: 'hot group, updates',
  what: 'badge updates a core-second of the server, messages coming as fast as they are taken against one at a time; the same final state',
  budget: { kind: 'at least', bound: 5, unit: '× the updates' },
  async run() {
    const { gain, mergedUs, unmergedUs } = await hotGroup();
    const perSecond = (us: number): string => `${Math.round(1000 / us)} k`;
    return {
      value: gain,
      detail: `${mergedUs.toFixed(2)} µs (${perSecond(mergedUs)} a core-second) · ${unmergedUs.toFixed(2)} µs (${perSecond(unmergedUs)}) one at a time`,
    };
  },
};
