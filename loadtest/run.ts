/** One run: set the stage, warm up, measure, let everything come to rest, look at every number. */
import type { Quantiles } from './histogram.ts';
import type { Figures } from './scenario.ts';
import { Stage, type StageDeps } from './stage.ts';
import { judge, type Verdict } from './verdict.ts';

export interface Measured {
  readonly figures: Figures;
  readonly times: Readonly<Record<string, Quantiles>>;
  readonly verdict: Verdict;
}

/** Both programs have to be compiled by their engines before anything is measured. */
const WARM_UP_SECONDS_MAX = 3;
const WARM_UP_SHARE = 0.2;
const US_PER_SECOND = 1_000_000;
const MS_PER_SECOND = 1000;

export async function run(deps: StageDeps): Promise<Measured> {
  const { target, scenario, scale } = deps;
  const stage = new Stage(deps);
  try {
    await stage.set();
    await stage.arrivals(scale.rate, Math.min(WARM_UP_SECONDS_MAX, scale.seconds * WARM_UP_SHARE));
    await stage.settled();

    stage.measure();
    const since = { atMs: performance.now(), server: target.cpuSeconds(), own: process.cpuUsage() };
    const ownFigures = scenario.play === undefined ? await onlyArrivals(stage) : await scenario.play(stage);
    const playedSeconds = (performance.now() - since.atMs) / MS_PER_SECOND;
    await stage.settled();
    const own = process.cpuUsage(since.own);
    const spent = {
      seconds: (performance.now() - since.atMs) / MS_PER_SECOND,
      server: since.server === null ? null : (target.cpuSeconds() ?? 0) - since.server,
      own: (own.user + own.system) / US_PER_SECOND,
    };
    // What is still on its way belongs to the times: they are read when every device has got there.
    const verdict = await judge(stage, target);
    const { syncs, reconnects } = stage.crowd.counts;
    const figures = {
      ...figuresOf(stage, playedSeconds, spent),
      ...ownFigures,
      reconnects,
      'syncs asked for': syncs,
      'requests sent again': target.retries,
    };
    return { figures, times: timesOf(stage), verdict };
  } finally {
    await stage.crowd.disconnect();
  }
}

async function onlyArrivals(stage: Stage): Promise<Figures> {
  await stage.arrivals(stage.scale.rate, stage.scale.seconds);
  return {};
}

interface Spent {
  readonly seconds: number;
  /** CPU seconds; null: not our server. */
  readonly server: number | null;
  readonly own: number;
}

function figuresOf({ counts, latency, crowd, cast, scale }: Stage, playedSeconds: number, spent: Spent): Figures {
  const { updates, frames } = latency;
  const percent = (seconds: number): string => `${((seconds / spent.seconds) * 100).toFixed(0)} % of a core`;
  return {
    users: cast.people.length,
    devices: crowd.devices.length,
    conversations: cast.conversations.length,
    'seconds played': playedSeconds.toFixed(1),
    messages: counts.messages,
    'messages a second (asked for)': `${(counts.messages / playedSeconds).toFixed(0)} (${scale.rate})`,
    reads: counts.reads,
    recalls: counts.recalls,
    'badge updates': updates,
    'badge updates a second': Math.round(updates / spent.seconds),
    'frames a badge update': (frames / updates).toFixed(3),
    'server CPU': spent.server === null ? 'not known' : percent(spent.server),
    'server CPU a badge update (µs)':
      spent.server === null ? 'not known' : ((spent.server * US_PER_SECOND) / updates).toFixed(1),
    'CPU of this program': percent(spent.own),
  };
}

function timesOf({ badgeTimes, ownTimes, poster, readTimes }: Stage): Record<string, Quantiles> {
  const times: Record<string, Quantiles> = {};
  for (const [kind, histogram] of badgeTimes) times[`message → badge, ${kind}`] = histogram.quantiles();
  for (const [name, histogram] of ownTimes) times[name] = histogram.quantiles();
  times['event → answer'] = poster.times.quantiles();
  times['read → acked'] = readTimes.quantiles();
  times['due → handed over'] = poster.lateness.quantiles();
  return times;
}
