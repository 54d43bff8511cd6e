import { startChild } from '../child.ts';
import { hellosFor } from '../hellos.ts';
import { type Line, median, ROUNDS } from '../line.ts';
import { closeClients, maskedText, openClients, openSockets, type Opening, type RawClient } from '../raw-sockets.ts';

const SOCKETS = 4000;
const PUSHES_A_ROUND = 10;
const CONNECTING = 100;
/** Until the clients have read everything: a write to somebody who is busy reading wakes nobody up, and costs less. */
const READ_MS = 200;

/** Engine.IO 4 without polling: "40" joins the namespace of all, and is answered with the id of the socket there. */
const SOCKET_IO: Opening = {
  path: '/socket.io/?EIO=4&transport=websocket',
  first: () => maskedText('40'),
  isAnswer: (bytes) => bytes.includes('40{"sid":'),
};

/** What most apps would use instead. */
export const socketIoEmit: Line = {
  name: 'unique delta to each socket, against Socket.IO',
  what: `a change of each of ${SOCKETS} users pushed by the gateway, against \`socket.emit\` of an object with three fields to as many sockets`,
  budget: { kind: 'at least', bound: 1.7, unit: '× the frames a core-second' },
  async run() {
    const gateway = startChild('gateway.ts');
    const socketIo = startChild('socket-io.ts');
    try {
      const hello = await hellosFor(gateway, SOCKETS, true);
      const ours = await openClients(await gateway.ask('listen'), SOCKETS, CONNECTING, hello);
      const theirs = await openSockets(await socketIo.ask('listen'), SOCKETS, CONNECTING, SOCKET_IO);
      const spent = { ours: [] as number[], theirs: [] as number[] };
      const bytes = { ours: 0, theirs: 0 };
      // The first compiles the code.
      for (let round = -1; round < ROUNDS; round++) {
        const before = { ours: bytesOf(ours), theirs: bytesOf(theirs) };
        const oursUs = await gateway.ask<number>('push', { times: PUSHES_A_ROUND, sockets: SOCKETS });
        await new Promise((resolve) => setTimeout(resolve, READ_MS));
        const theirsUs = await socketIo.ask<number>('push', { times: PUSHES_A_ROUND });
        await new Promise((resolve) => setTimeout(resolve, READ_MS));
        if (round < 0) continue;
        spent.ours.push(oursUs);
        spent.theirs.push(theirsUs);
        bytes.ours = bytesOf(ours) - before.ours;
        bytes.theirs = bytesOf(theirs) - before.theirs;
      }
      await closeClients([...ours, ...theirs]);
      const detail = (of: keyof typeof spent): string =>
        `${median(spent[of]).toFixed(1)} µs and about ${(bytes[of] / SOCKETS / PUSHES_A_ROUND).toFixed(0)} bytes`;
      return {
        value: median(spent.ours.map((us, i) => (spent.theirs[i] as number) / us)),
        detail: `${detail('ours')} a delta · ${detail('theirs')} an emit`,
      };
    } finally {
      await Promise.all([gateway.stop(), socketIo.stop()]);
    }
  },
};

function bytesOf(clients: readonly RawClient[]): number {
  return clients.reduce((sum, client) => sum + client.bytes, 0);
}
