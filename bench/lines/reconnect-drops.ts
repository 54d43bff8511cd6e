import type { Line } from '../line.ts';
import { LINUX } from '../need.ts';
import { reconnectStorm } from '../reconnect-storm.ts';

/**
 * Where the system drops connections that nobody takes in time, they are dialled again after a second: the backlog is there so that it
 * does not. What it is told is cut to `net.core.somaxconn`.
 */
export const reconnectDrops: Line = {
  name: '4,000 reconnects at once, dialled again by the system',
  what: 'the same run: what the kernel counted (/proc/net/netstat) while all dialled; the counters are those of the machine, so nobody else should dial',
  budget: { kind: 'exactly', bound: 0, unit: 'SYNs sent again or dropped', isCounted: true },
  needs: [LINUX],
  async run() {
    const { counted, dialled } = await reconnectStorm();
    const each = Object.entries(counted).map(([name, count]) => `${name} ${count}`);
    return {
      value: counted.TCPSynRetrans + counted.ListenDrops,
      detail: `${dialled.toLocaleString('en')} dialled · ${each.join(' · ')}`,
    };
  },
};
