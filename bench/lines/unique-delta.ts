import { startChild } from '../child.ts';
import { hellosFor } from '../hellos.ts';
import { type Line, median, ROUNDS } from '../line.ts';
import { closeClients, openClients } from '../raw-sockets.ts';

const SOCKETS = 4000;
const PUSHES_A_ROUND = 10;
const FRAME_BYTES = 44;
const CONNECTING = 100;
/** Until the clients have read everything: a write to somebody who is busy reading wakes nobody up, and costs less. */
const READ_MS = 200;

/** The socket write is most of what a badge costs; what we put before it has to be small against it. */
export const uniqueDelta: Line = {
  name: 'unique delta to each socket',
  what: `a change of each of ${SOCKETS} users pushed by the gateway, against one shared, framed buffer written to as many sockets of \`ws\``,
  budget: { kind: 'at least', bound: 0.85, unit: '× the frames a core-second' },
  async run() {
    const gateway = startChild('gateway.ts');
    const bare = startChild('bare-ws.ts');
    try {
      const hello = await hellosFor(gateway, SOCKETS, true);
      const clients = [
        ...(await openClients(await gateway.ask('listen'), SOCKETS, CONNECTING, hello)),
        ...(await openClients(await bare.ask('listen'), SOCKETS, CONNECTING)),
      ];
      const settled = async (us: Promise<number>): Promise<number> => {
        const spentUs = await us;
        await new Promise((resolve) => setTimeout(resolve, READ_MS));
        return spentUs;
      };
      const ours = () => settled(gateway.ask('push', { times: PUSHES_A_ROUND, sockets: SOCKETS }));
      const theirs = () => settled(bare.ask('push', { times: PUSHES_A_ROUND, bytes: FRAME_BYTES }));
      const spent: { ours: number[]; theirs: number[] } = { ours: [], theirs: [] };
      for (let round = 0; round <= ROUNDS; round++) {
        const both = { ours: await ours(), theirs: await theirs() };
        // The first compiles the code.
        if (round === 0) continue;
        spent.ours.push(both.ours);
        spent.theirs.push(both.theirs);
      }
      const bytes = clients.slice(0, SOCKETS).reduce((sum, client) => sum + client.bytes, 0);
      await closeClients(clients);
      const [oursUs, theirsUs] = [median(spent.ours), median(spent.theirs)];
      const ratio = median(spent.ours.map((us, i) => (spent.theirs[i] as number) / us));
      const frameBytes = bytes / SOCKETS / (PUSHES_A_ROUND * (ROUNDS + 1));
      return {
        value: ratio,
        detail: `${oursUs.toFixed(1)} µs a delta · ${theirsUs.toFixed(1)} µs a write of the shared buffer · about ${frameBytes.toFixed(0)} bytes a frame`,
      };
    } finally {
      await Promise.all([gateway.stop(), bare.stop()]);
    }
  },
};
