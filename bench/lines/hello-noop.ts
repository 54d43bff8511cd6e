import { type Child, startChild } from '../child.ts';
import { hellosFor } from '../hellos.ts';
import { type Line, median, ROUNDS } from '../line.ts';
import { closeClients, openClients } from '../raw-sockets.ts';
import type { Hello } from '../../protocol/index.ts';

const SOCKETS = 1000;
const CONNECTING = 100;
/** A server that runs for days has all of its code compiled, which takes both of them thousands of handshakes. */
const WARM_UP_ROUNDS = 12;

/** A device that comes back and has missed nothing; what `ws` is spared pays for the token and the read of the state. */
export const helloNoop: Line = {
  name: 'hello, nothing new',
  what: `handshake, token, one read of the state and a welcome, against the handshake of \`ws\` alone; ${SOCKETS} at ${CONNECTING} at a time`,
  budget: { kind: 'at least', bound: 0.7, unit: '× the handshakes a core-second' },
  async run() {
    const gateway = startChild('gateway.ts');
    const bare = startChild('bare-ws.ts');
    try {
      const hello = await hellosFor(gateway, SOCKETS, true);
      const ports = { gateway: await gateway.ask<number>('listen'), bare: await bare.ask<number>('listen') };
      const spent: { ours: number[]; theirs: number[] } = { ours: [], theirs: [] };
      const before = await gateway.ask<Cost>('cost');
      for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
        const both = {
          ours: await spentOn(gateway, ports.gateway, hello),
          theirs: await spentOn(bare, ports.bare, null),
        };
        if (round < 0) continue;
        spent.ours.push(both.ours);
        spent.theirs.push(both.theirs);
      }
      const after = await gateway.ask<Cost>('cost');
      const hellos = SOCKETS * (WARM_UP_ROUNDS + ROUNDS);
      const reads = (after.reads - before.reads) / hellos;
      const statements = (after.statements - before.statements) / hellos;
      return {
        value: median(spent.ours.map((us, i) => (spent.theirs[i] as number) / us)),
        detail: `${median(spent.ours).toFixed(0)} µs · ${median(spent.theirs).toFixed(0)} µs of \`ws\` · ${reads} state round trips and ${statements} SQL statements a hello`,
      };
    } finally {
      await Promise.all([gateway.stop(), bare.stop()]);
    }
  },
};

interface Cost {
  readonly reads: number;
  readonly statements: number;
}

async function spentOn(server: Child, port: number, hello: ((i: number) => Hello) | null): Promise<number> {
  const sinceUs = await server.ask<number>('cpuUs');
  const clients = await openClients(port, SOCKETS, CONNECTING, hello);
  const us = (await server.ask<number>('cpuUs')) - sinceUs;
  await closeClients(clients);
  return us / SOCKETS;
}
