/** Thousands who dial in one moment, in turn with as many a hundred at a time. Played once for all lines that ask. */
import { readFileSync } from 'node:fs';
import { type Child, startChild } from './child.ts';
import { hellosFor } from './hellos.ts';
import { median, ROUNDS } from './line.ts';
import { closeClients, openClients, type RawClient } from './raw-sockets.ts';
import type { Hello } from '../protocol/index.ts';

export interface ReconnectStorm {
  /** Medians over the rounds. */
  readonly p99Ms: number;
  readonly idealMs: number;
  readonly ratio: number;
  /** What the kernel counted while all dialled at once, in all rounds; of the whole machine. */
  readonly counted: Readonly<Counted>;
  /** How many dialled meanwhile. */
  readonly dialled: number;
}

export const SOCKETS = 4000;
/** Under way at once when nobody has to wait for another. */
export const WIDTH = 100;
/** Of /proc/net/netstat: SYNs that had to be sent again, backlogs found full, and what was dropped for that and other reasons. */
const COUNTERS = ['TCPSynRetrans', 'ListenOverflows', 'ListenDrops'] as const;

type Counted = Record<(typeof COUNTERS)[number], number>;

let played: Promise<ReconnectStorm> | null = null;

export function reconnectStorm(): Promise<ReconnectStorm> {
  return (played ??= play());
}

async function play(): Promise<ReconnectStorm> {
  const gateway = startChild('gateway.ts');
  try {
    const hello = await hellosFor(gateway, SOCKETS, true);
    const port = await gateway.ask<number>('listen');
    const p99s: number[] = [];
    const ideals: number[] = [];
    const counted = { TCPSynRetrans: 0, ListenOverflows: 0, ListenDrops: 0 };
    for (let round = 0; round <= ROUNDS; round++) {
      const steady = await dialled(gateway, port, WIDTH, hello);
      const before = countedSoFar();
      const storm = await dialled(gateway, port, SOCKETS, hello);
      const after = countedSoFar();
      for (const name of COUNTERS) counted[name] += after[name] - before[name];
      // The first compiles the code.
      if (round === 0) continue;
      ideals.push(steady.tookMs);
      p99s.push(storm.readyMs.toSorted((a, b) => a - b)[Math.floor(SOCKETS * 0.99)] as number);
    }
    return {
      p99Ms: median(p99s),
      idealMs: median(ideals),
      ratio: median(p99s.map((p99, i) => p99 / (ideals[i] as number))),
      counted,
      dialled: SOCKETS * (ROUNDS + 1),
    };
  } finally {
    await gateway.stop();
  }
}

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

/** A line of names and a line of numbers. */
function countedSoFar(): Counted {
  const lines = readFileSync('/proc/net/netstat', 'utf8').split('\n');
  const [names = [], numbers = []] = lines.filter((line) => line.startsWith('TcpExt:')).map((line) => line.split(' '));
  return Object.fromEntries(COUNTERS.map((name) => [name, Number(numbers[names.indexOf(name)])])) as Counted;
}
