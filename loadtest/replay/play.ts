/** One playing of a trace, from the first step to the last comparison; the faults strike while it runs. */
import type { Target } from '../target.ts';
import { check } from './checkpoint.ts';
import { Latency } from './latency.ts';
import { Player } from './player.ts';
import { readCheckpoints, readSteps } from './trace.ts';

/** Something that goes wrong at a moment of the trace. */
export interface Fault {
  readonly name: string;
  readonly at: number;
  strike(): Promise<void>;
}

/**
 * What a node that was killed had committed and answered, but not yet told to the users' states, another one makes up for when it is 5 s
 * old, and looks once a second. Until then those who are not told are behind, and not wrong.
 */
const RELAYED_WITHIN_MS = 8_000;

export interface PlayOptions {
  readonly folder: string;
  readonly target: Target;
  readonly speed: number | null;
  /** In the order of their moments. */
  readonly faults: readonly Fault[];
  readonly onProgress: (at: number, events: number) => void;
  readonly say: (text: string) => void;
}

export interface Played {
  readonly wrong: readonly string[];
  readonly figures: Readonly<Record<string, string | number>>;
}

export async function play({ folder, target, speed, faults, onProgress, say }: PlayOptions): Promise<Played> {
  const checkpoints = readCheckpoints(folder);
  const latency = new Latency();
  const player = new Player({ target, speed, latency, onProgress: (at) => onProgress(at, player.posted) });
  const ahead = [...faults];
  const wrong: string[] = [];
  let views = 0;
  let rows = 0;
  let struck: Promise<void> = Promise.resolve();
  let relayed: Promise<void> = Promise.resolve();
  let playedMs = 0;
  let since = performance.now();

  const compareUpTo = async (at: number): Promise<void> => {
    while (checkpoints[0] && checkpoints[0].at < at) {
      await struck;
      await player.settled();
      playedMs += performance.now() - since;
      await relayed;
      const checkpoint = checkpoints.shift();
      if (!checkpoint) return;
      const verdict = await check(checkpoint, player, target);
      views += verdict.views;
      rows += verdict.rows;
      wrong.push(...verdict.wrong);
      say(
        `checkpoint at ${checkpoint.at}: ${verdict.views} views, ${verdict.rows} rows, ${verdict.wrong.length} wrong`,
      );
      since = performance.now();
    }
  };

  try {
    for await (const step of readSteps(folder)) {
      await compareUpTo(step.at);
      while (ahead[0] !== undefined && step.at >= ahead[0].at) {
        const fault = ahead.shift() as Fault;
        // Not awaited: requests and frames are in flight while it strikes.
        struck = struck.then(async () => {
          await fault.strike();
          relayed = new Promise((resolve) => setTimeout(resolve, RELAYED_WITHIN_MS));
        });
        // Looked at by the next checkpoint; until then it is nobody's.
        struck.catch(() => {});
        say(`${fault.name} at ${step.at}`);
      }
      await player.play(step);
    }
    await compareUpTo(Infinity);
    wrong.push(...player.faults);
  } finally {
    await Promise.all([...player.devices].map((device) => device.disconnect()));
  }
  const counts = { pushes: 0, reconnects: 0, syncs: 0 };
  for (const device of player.devices) {
    counts.pushes += device.counts.pushes;
    counts.reconnects += device.counts.reconnects;
    counts.syncs += device.counts.syncs;
  }
  const milliseconds = (percent: number): string => latency.percentile(percent).toFixed(1);
  return {
    wrong,
    figures: {
      messages: player.counts.messages,
      events: player.posted,
      acks: player.counts.acks,
      pushes: counts.pushes,
      'views compared': views,
      'rows compared': rows,
      wrong: wrong.length,
      'message → badge p50/p95/p99 (ms)': [50, 95, 99].map(milliseconds).join(' / '),
      'messages a second': Math.round(player.counts.messages / (playedMs / 1000)),
      'played in (s)': (playedMs / 1000).toFixed(1),
      'requests sent again': target.retries,
      reconnects: counts.reconnects,
      'syncs asked for': counts.syncs,
    },
  };
}
