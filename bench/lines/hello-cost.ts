import { startChild } from '../child.ts';
import { hellosFor } from '../hellos.ts';
import type { Line } from '../line.ts';
import { closeClients, openClients } from '../raw-sockets.ts';

const SOCKETS = 1000;
const CONNECTING = 100;

interface Cost {
  readonly reads: number;
  readonly statements: number;
}

/** A whole node that comes back asks this of the stores at once. */
export const helloCost: Line = {
  name: 'hello, nothing new, asked of the stores',
  what: 'reads of the state, each one round trip, and SQL statements for a device that has missed nothing',
  budget: { kind: 'exactly', bound: 1, unit: 'round trips a hello', isCounted: true },
  async run() {
    const gateway = startChild('gateway.ts');
    try {
      const hello = await hellosFor(gateway, SOCKETS, true);
      const before = await gateway.ask<Cost>('cost');
      await closeClients(await openClients(await gateway.ask('listen'), SOCKETS, CONNECTING, hello));
      const after = await gateway.ask<Cost>('cost');
      const reads = after.reads - before.reads;
      const statements = after.statements - before.statements;
      return {
        value: (reads + statements) / SOCKETS,
        detail: `${SOCKETS} hellos: ${reads} reads of the state, ${statements} SQL statements`,
      };
    } finally {
      await gateway.stop();
    }
  },
};
