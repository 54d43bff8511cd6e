import { hotGroup } from '../hot-group.ts';
import { overloadRun } from '../load-run.ts';
import type { Line } from '../line.ts';

const US_PER_SECOND = 1_000_000;
const MEMBERS = 100;
const TIMES = 2;

/** More than can be served one by one is merged: badges come later and less often, and no queue grows that would have to be worked off. */
export const badgeOverload: Line = {
  name: 'message → badge, p99 at twice the load',
  what: `messages to a group of ${MEMBERS} at ${TIMES} times the rate at which serving each on its own would fill a core; open loop, so a queue that grew would show as seconds`,
  budget: { kind: 'at most', bound: 200, unit: 'ms' },
  async run() {
    const { unmergedUs } = await hotGroup();
    const rate = Math.ceil((TIMES * US_PER_SECOND) / unmergedUs / MEMBERS);
    const { figures, times } = await overloadRun(MEMBERS, rate);
    const badges = times['message → badge, hot'];
    const late = times['due → handed over']?.p99 ?? NaN;
    return {
      value: badges?.p99 ?? NaN,
      detail: `${rate} messages a second, ${figures['badge updates a second']} badge updates · median ${badges?.p50.toFixed(1)} ms, worst ${badges?.max.toFixed(0)} ms · ${figures['frames a badge update']} frames a badge update · the load tool was late by ${late.toFixed(1)} ms (p99)`,
    };
  },
};
