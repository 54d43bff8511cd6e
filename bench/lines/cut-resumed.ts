import { cutRun } from '../load-run.ts';
import type { Line } from '../line.ts';

/** SY2: whoever comes back gets what it missed. */
export const cutResumed: Line = {
  name: '10,000 clients cut at once, back without a snapshot',
  what: 'the same run: the share that was answered noop or delta',
  budget: { kind: 'at least', bound: 0.95, unit: 'of the devices', isCounted: true },
  async run() {
    const { figures } = await cutRun();
    const { 'back by noop': noop = 0, 'back by delta': delta = 0, devices = 1 } = figures;
    return { value: (noop + delta) / devices, detail: `${noop} by noop, ${delta} by delta` };
  },
};
