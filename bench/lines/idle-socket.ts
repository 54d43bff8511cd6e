import { startChild } from '../child.ts';
import { hellosFor } from '../hellos.ts';
import { type Line, median } from '../line.ts';
import { openFiles } from '../need.ts';
import { closeClients, openClients } from '../raw-sockets.ts';
import type { Hello } from '../../protocol/index.ts';

/** With fewer, what a young heap holds back from the collector weighs more than the sockets. */
const SOCKETS = 16_000;
/** Files that a process has open beside its sockets. */
const OTHER_FILES = 1000;
const WARM_UP = 500;
const CONNECTING = 200;
/** Each in fresh processes, so fewer than of the others. */
const MEMORY_ROUNDS = 7;
const REST_MS = 1500;

/** Thousands of sockets are idle at any moment; what each of them keeps is what a node can hold. */
export const idleSocket: Line = {
  name: 'idle, authenticated, synced connection',
  what: 'resident memory of the server per socket after it was greeted and got a snapshot of 50 conversations, against a socket of `ws`',
  budget: { kind: 'at most', bound: 1.25, unit: '× the memory' },
  needs: [openFiles(SOCKETS + OTHER_FILES)],
  async run() {
    const hello = await signedElsewhere();
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let round = 0; round < MEMORY_ROUNDS; round++) {
      ours.push(await bytesASocket('gateway.ts', hello));
      theirs.push(await bytesASocket('bare-ws.ts', null));
    }
    const kb = (bytes: number): string => (bytes / 1000).toFixed(2);
    return {
      value: median(ours.map((bytes, i) => bytes / (theirs[i] as number))),
      detail: `${kb(median(ours))} KB · ${kb(median(theirs))} KB of \`ws\`, at ${SOCKETS.toLocaleString('en')} sockets`,
    };
  },
};

/** By a gateway with the same secret: what is freed of 16,000 tokens would be room for the sockets of the one that is measured. */
async function signedElsewhere(): Promise<(i: number) => Hello> {
  const signer = startChild('gateway.ts');
  try {
    return await hellosFor(signer, SOCKETS, false);
  } finally {
    await signer.stop();
  }
}

async function bytesASocket(program: string, hello: ((i: number) => Hello) | null): Promise<number> {
  const server = startChild(program);
  try {
    const port = await server.ask<number>('listen');
    await closeClients(await openClients(port, WARM_UP, CONNECTING, hello));
    const before = await server.ask<number>('rss');
    const clients = await openClients(port, SOCKETS, CONNECTING, hello);
    await new Promise((resolve) => setTimeout(resolve, REST_MS));
    const held = await server.ask<number>('sockets');
    if (held !== SOCKETS) throw new Error(`${held} sockets are open, not ${SOCKETS}`);
    const after = await server.ask<number>('rss');
    await closeClients(clients);
    return (after - before) / SOCKETS;
  } finally {
    await server.stop();
  }
}
