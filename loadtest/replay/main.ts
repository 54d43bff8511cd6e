/**
 * npm run replay -- FOLDER [--speed N] [--url URL --api-key K --token-secret S] [--kill N] [--seed N]
 *
 * Sends a recorded history through the HTTP API while its devices come and go over real sockets and ack as they did, and compares
 * at each checkpoint what every connected device shows, and what GET answers for everybody else, with the expected numbers.
 * Exit 0: not one wrong number. 1: something was wrong (the first ten are named). 2: it could not be played.
 */
import { parseArgs } from 'node:util';
import { randomOf } from '../random.ts';
import { printTable } from '../table.ts';
import { Target } from '../target.ts';
import { check } from './checkpoint.ts';
import { Latency } from './latency.ts';
import { Player } from './player.ts';
import { Progress } from './progress.ts';
import { readCheckpoints, readSteps } from './trace.ts';

const NAMED_MAX = 10;

interface Options {
  readonly folder: string;
  readonly speed: number | null;
  readonly kills: number;
  readonly seed: number;
  readonly url: string | undefined;
  readonly apiKey: string | undefined;
  readonly tokenSecret: string | undefined;
}

function readOptions(): Options {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      speed: { type: 'string' },
      url: { type: 'string' },
      'api-key': { type: 'string' },
      'token-secret': { type: 'string' },
      kill: { type: 'string', default: '0' },
      seed: { type: 'string', default: '1' },
    },
  });
  const [folder] = positionals;
  if (folder === undefined || positionals.length > 1) throw new Error('name one folder with a trace');
  const speed = values.speed === undefined ? null : Number(values.speed);
  if (speed !== null && !(speed > 0)) throw new Error('--speed takes a number above 0');
  const kills = Number(values.kill);
  if (!Number.isSafeInteger(kills) || kills < 0) throw new Error('--kill takes a whole number');
  if (values.url !== undefined && !(values['api-key'] && values['token-secret'])) {
    throw new Error('--url needs --api-key and --token-secret');
  }
  if (values.url !== undefined && kills > 0) throw new Error('--kill needs a server that is started here, not --url');
  return {
    folder,
    speed,
    kills,
    seed: Number(values.seed),
    url: values.url,
    apiKey: values['api-key'],
    tokenSecret: values['token-secret'],
  };
}

async function main(options: Options): Promise<boolean> {
  const checkpoints = readCheckpoints(options.folder);
  const end = checkpoints.at(-1)?.at ?? 0;
  const target =
    options.url === undefined
      ? await Target.start()
      : Target.at([options.url], { apiKey: options.apiKey ?? '', tokenSecret: options.tokenSecret ?? '' });
  const progress = new Progress(end);
  const latency = new Latency();
  const player = new Player({
    target,
    speed: options.speed,
    latency,
    onProgress: (at) => progress.show(at, player.posted),
  });
  const killAt = momentsOf(options.kills, options.seed, end);
  const wrong: string[] = [];
  let views = 0;
  let rows = 0;
  let crashes: Promise<void> = Promise.resolve();
  let playedMs = 0;
  let since = performance.now();

  const compareUpTo = async (at: number): Promise<void> => {
    while (checkpoints[0] && checkpoints[0].at < at) {
      await crashes;
      await player.settled();
      playedMs += performance.now() - since;
      const checkpoint = checkpoints.shift();
      if (!checkpoint) return;
      const verdict = await check(checkpoint, player, target);
      views += verdict.views;
      rows += verdict.rows;
      wrong.push(...verdict.wrong);
      progress.say(
        `checkpoint at ${checkpoint.at}: ${verdict.views} views, ${verdict.rows} rows, ${verdict.wrong.length} wrong`,
      );
      since = performance.now();
    }
  };

  try {
    for await (const step of readSteps(options.folder)) {
      await compareUpTo(step.at);
      if (killAt[0] !== undefined && step.at >= killAt[0]) {
        killAt.shift();
        // Not awaited: requests and frames are in flight while the server dies and comes back.
        crashes = crashes.then(() => target.crash());
        // Looked at by the next checkpoint; until then it is nobody's.
        crashes.catch(() => {});
        progress.say(`killed at ${step.at}`);
      }
      await player.play(step);
    }
    await compareUpTo(Infinity);
    wrong.push(...player.faults);
    progress.end();
    report();
    return wrong.length === 0;
  } finally {
    await Promise.all([...player.devices].map((device) => device.disconnect()));
    await target.stop();
  }

  function report(): void {
    const counts = { pushes: 0, reconnects: 0, syncs: 0 };
    for (const device of player.devices) {
      counts.pushes += device.counts.pushes;
      counts.reconnects += device.counts.reconnects;
      counts.syncs += device.counts.syncs;
    }
    printTable({
      messages: player.counts.messages,
      events: player.posted,
      acks: player.counts.acks,
      pushes: counts.pushes,
      'views compared': views,
      'rows compared': rows,
      wrong: wrong.length,
      'message → badge p50/p95/p99 (ms)': [50, 95, 99]
        .map((percent) => latency.percentile(percent).toFixed(1))
        .join(' / '),
      'messages a second': Math.round(player.counts.messages / (playedMs / 1000)),
      'played in (s)': (playedMs / 1000).toFixed(1),
      'requests sent again': target.retries,
      reconnects: counts.reconnects,
      'syncs asked for': counts.syncs,
    });
    for (const text of wrong.slice(0, NAMED_MAX)) console.log(`wrong: ${text}`);
  }
}

/** Moments of the trace at which the server is killed, the same for the same seed. */
function momentsOf(count: number, seed: number, end: number): number[] {
  const random = randomOf(seed);
  return Array.from({ length: count }, () => Math.floor(random.fraction() * end)).toSorted((a, b) => a - b);
}

try {
  process.exitCode = (await main(readOptions())) ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
