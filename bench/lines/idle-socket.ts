import { execFileSync } from 'node:child_process';
import { startChild } from '../child.ts';
import { hellosFor } from '../hellos.ts';
import { type Line, median } from '../line.ts';
import { closeClients, openClients } from '../raw-sockets.ts';
import type { Hello } from '../../protocol/index.ts';

const SOCKETS_WANTED = 16_000;
/** Files that a process has open beside its sockets. */
const OTHER_FILES = 1000;
const WARM_UP = 500;
const CONNECTING = 200;
/** Each in fresh processes, so not as many as of the others. */
const MEMORY_ROUNDS = 3;
const REST_MS = 1500;

/** Thousands of sockets are idle at any moment; what each of them keeps is what a node can hold. */
export const idleSocket: Line = {
  name: 'idle, authenticated, synced connection',
  what: 'resident memory of the server per socket after it was greeted and got a snapshot of 50 conversations, against a socket of `ws`',
  budget: { kind: 'at most', bound: 1.25, unit: '× the memory' },
  async run() {
    const sockets = Math.min(SOCKETS_WANTED, filesMax() - OTHER_FILES);
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let round = 0; round < MEMORY_ROUNDS; round++) {
      ours.push(await bytesASocket('gateway.ts', sockets));
      theirs.push(await bytesASocket('bare-ws.ts', sockets));
    }
    const kb = (bytes: number): string => (bytes / 1000).toFixed(2);
    return {
      value: median(ours) / median(theirs),
      detail: `${kb(median(ours))} KB · ${kb(median(theirs))} KB of \`ws\`, at ${sockets.toLocaleString('en')} sockets`,
    };
  },
};

async function bytesASocket(program: string, sockets: number): Promise<number> {
  const server = startChild(program);
  try {
    const port = await server.ask<number>('listen');
    const hello: ((i: number) => Hello) | null =
      program === 'gateway.ts' ? await hellosFor(server, sockets, false) : null;
    await closeClients(await openClients(port, WARM_UP, CONNECTING, hello));
    const before = await server.ask<number>('rss');
    const clients = await openClients(port, sockets, CONNECTING, hello);
    await new Promise((resolve) => setTimeout(resolve, REST_MS));
    const held = await server.ask<number>('sockets');
    if (held !== sockets) throw new Error(`${held} sockets are open, not ${sockets}`);
    const after = await server.ask<number>('rss');
    await closeClients(clients);
    return (after - before) / sockets;
  } finally {
    await server.stop();
  }
}

/** Node raises its own limit to the hard one. */
function filesMax(): number {
  const said = execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim();
  return said === 'unlimited' ? Infinity : Number(said);
}
