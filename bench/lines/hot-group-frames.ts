import { hotGroup } from '../hot-group.ts';
import type { Line } from '../line.ts';

/** ARCHITECTURE, truth and state: any number of messages collapses into one update, at every stage. */
export const hotGroupFrames: Line = {
  name: 'hot group, frames',
  what: 'frames of the server for each badge update (one message on one of 400 devices), messages coming as fast as they are taken',
  budget: { kind: 'at most', bound: 0.15, unit: 'frames a badge update' },
  async run() {
    const { framesAnUpdate, mergedUs } = await hotGroup();
    return { value: framesAnUpdate, detail: `${mergedUs.toFixed(2)} µs of the server a badge update` };
  },
};
