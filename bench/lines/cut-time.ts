import { cutRun } from '../load-run.ts';
import type { Line } from '../line.ts';

const MS_PER_SECOND = 1000;

/** Every device dials again at once, with no spreading: clients of ours would spread, a proxy that dies does not ask. */
export const cutTime: Line = {
  name: '10,000 clients cut at once, the last one right again',
  what: 'from the cut to the last device that shows what the server has, messages going on meanwhile',
  budget: { kind: 'at most', bound: 30, unit: 's' },
  async run() {
    const { figures, times } = await cutRun();
    const back = times['cut → right again'];
    return {
      value: (back?.max ?? NaN) / MS_PER_SECOND,
      detail: `median ${back?.p50.toFixed(0)} ms · ${figures['sockets that failed']} sockets failed`,
    };
  },
};
