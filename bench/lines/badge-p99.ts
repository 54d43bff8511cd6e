import { badgeRun } from '../load-run.ts';
import type { Line } from '../line.ts';

export const badgeP99: Line = {
  name: 'message → badge, p99',
  what: 'the same run: one of a hundred takes longer. Where the load tool itself was late, others are using the machine',
  budget: { kind: 'at most', bound: 20, unit: 'ms' },
  async run() {
    const { times } = await badgeRun();
    const late = times['due → handed over']?.p99 ?? NaN;
    return {
      value: times['message → badge, hot']?.p99 ?? NaN,
      detail: `the load tool was late by ${late.toFixed(1)} ms (p99)`,
    };
  },
};
