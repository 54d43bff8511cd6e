import { type Child, startChild } from '../child.ts';
import { hellosFor } from '../hellos.ts';
import { type Line, median, ROUNDS } from '../line.ts';
import { closeClients, openClients, type RawClient } from '../raw-sockets.ts';
import type { Hello } from '../../protocol/index.ts';

const SOCKETS = 4000;
/** Under way at once when nobody has to wait for another. */
const WIDTH = 100;

/**
 * Whoever comes at the same time as all others waits until it is their turn, and no longer. Where the system drops connections that
 * nobody takes in time, they are dialled again after a second: the backlog is there so that it does not.
 */
export const reconnects: Line = {
  name: '4,000 reconnects at once',
  what: `from dialling to the welcome, the slowest of a hundred, against the time that ${SOCKETS} take at ${WIDTH} at a time; none may fail`,
  budget: { kind: 'at most', bound: 1.5, unit: '× the time' },
  async run() {
    const gateway = startChild('gateway.ts');
    try {
      const hello = await hellosFor(gateway, SOCKETS, true);
      const port = await gateway.ask<number>('listen');
      const p99s: number[] = [];
      const ideals: number[] = [];
      for (let round = 0; round <= ROUNDS; round++) {
        const steady = await dialled(gateway, port, WIDTH, hello);
        const storm = await dialled(gateway, port, SOCKETS, hello);
        // The first compiles the code.
        if (round === 0) continue;
        ideals.push(steady.tookMs);
        p99s.push(storm.readyMs.toSorted((a, b) => a - b)[Math.floor(SOCKETS * 0.99)] as number);
      }
      const ratio = median(p99s.map((p99, i) => p99 / (ideals[i] as number)));
      const detail = `p99 ${median(p99s).toFixed(0)} ms · ${median(ideals).toFixed(0)} ms one after the other (medians)`;
      return { value: ratio, detail };
    } finally {
      await gateway.stop();
    }
  },
};

/** How long all of them took, and each. A socket that fails ends the run. */
async function dialled(gateway: Child, port: number, width: number, hello: (i: number) => Hello) {
  const sinceMs = performance.now();
  const clients = await openClients(port, SOCKETS, width, hello);
  const tookMs = performance.now() - sinceMs;
  const held = await gateway.ask<number>('sockets');
  if (held !== SOCKETS) throw new Error(`${held} sockets are open, not ${SOCKETS}`);
  const readyMs = clients.map((client: RawClient) => client.readyMs);
  await closeClients(clients);
  return { tookMs, readyMs };
}
