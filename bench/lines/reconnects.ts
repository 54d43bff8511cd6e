import type { Line } from '../line.ts';
import { LINUX } from '../need.ts';
import { reconnectStorm, SOCKETS, WIDTH } from '../reconnect-storm.ts';

/** Whoever comes at the same time as all others waits until it is their turn, and no longer. */
export const reconnects: Line = {
  name: '4,000 reconnects at once',
  what: `from dialling to the welcome, the slowest of a hundred, against the time that ${SOCKETS} take at ${WIDTH} at a time; none may fail`,
  budget: { kind: 'at most', bound: 1.5, unit: '× the time' },
  needs: [LINUX],
  async run() {
    const { ratio, p99Ms, idealMs } = await reconnectStorm();
    const detail = `p99 ${p99Ms.toFixed(0)} ms · ${idealMs.toFixed(0)} ms one after the other (medians)`;
    return { value: ratio, detail };
  },
};
