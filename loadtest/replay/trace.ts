/** A recorded history on disk: events, presence of devices, reads and preferences, each line stamped with `at` (ms since the start). */
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip, gunzipSync } from 'node:zlib';

export interface TraceEvent {
  readonly kind: 'event';
  readonly at: number;
  readonly event: {
    type: string;
    conv: string;
    event_id?: string;
    message_id?: string;
    users?: string[];
    members?: string[];
  };
}
export interface TraceRead {
  readonly kind: 'read';
  readonly at: number;
  readonly user: string;
  readonly device: string;
  readonly conv: string;
  readonly upTo: string;
}
export interface TracePresence {
  readonly kind: 'connect' | 'disconnect';
  readonly at: number;
  readonly user: string;
  readonly device: string;
}
export interface TracePrefs {
  readonly kind: 'prefs';
  readonly at: number;
  readonly user: string;
  readonly conv: string;
  readonly action: 'mute' | 'unmute' | 'clear';
  /** The message that was the head then (clear). */
  readonly upTo: string | null;
}
export type TraceStep = TraceEvent | TraceRead | TracePresence | TracePrefs;

export interface ExpectedRow {
  readonly unread: number;
  readonly mentions: number;
  /** Highest ack above the join; null: the watermark may be 0 or the join. */
  readonly read_upto_message_id: string | null;
}
export interface ExpectedUser {
  readonly total: number;
  readonly mentions: number;
  readonly badge?: number;
  readonly rows: Readonly<Record<string, ExpectedRow>>;
}
export interface Checkpoint {
  readonly at: number;
  readonly users: Readonly<Record<string, ExpectedUser>>;
}

/** Things of one moment happen in this order. */
const ORDER: readonly TraceStep['kind'][] = ['event', 'connect', 'read', 'prefs', 'disconnect'];

export function readCheckpoints(folder: string): Checkpoint[] {
  const file = fileOf(folder, 'expected.json');
  if (!file) throw new Error(`${folder} holds no expected.json or expected.json.gz`);
  const bytes = readFileSync(file);
  const expected = JSON.parse(String(file.endsWith('.gz') ? gunzipSync(bytes) : bytes)) as {
    checkpoints: Checkpoint[];
    final: Checkpoint;
  };
  return [...expected.checkpoints, expected.final].toSorted((a, b) => a.at - b.at);
}

/** A step and its place among those of one moment. */
interface Placed {
  readonly step: TraceStep;
  readonly place: number;
}

/** All steps of the folder in the order in which they happened. */
export async function* readSteps(folder: string): AsyncGenerator<TraceStep> {
  const streams = [
    stepsOf(folder, 'events.jsonl', (line) => ({ kind: 'event', ...line }) as TraceEvent),
    stepsOf(folder, 'online.jsonl', ({ do: kind, ...line }) => ({ kind, ...line }) as TracePresence),
    stepsOf(folder, 'reads.jsonl', ({ up_to: upTo, ...line }) => ({ kind: 'read', ...line, upTo }) as TraceRead),
    stepsOf(
      folder,
      'prefs.jsonl',
      ({ do: action, up_to: upTo = null, ...line }) => ({ kind: 'prefs', ...line, action, upTo }) as TracePrefs,
    ),
  ];
  const heads = await Promise.all(streams.map((stream) => stream.next()));
  for (;;) {
    let first = -1;
    heads.forEach((head, i) => {
      if (head.done) return;
      const best = first < 0 ? undefined : heads[first];
      if (!best || best.done || before(head.value, best.value)) first = i;
    });
    const head = heads[first];
    if (!head || head.done) return;
    yield head.value.step;
    heads[first] = await (streams[first] as AsyncGenerator<Placed>).next();
  }
}

function before(a: Placed, b: Placed): boolean {
  return a.step.at !== b.step.at ? a.step.at < b.step.at : a.place < b.place;
}

/** The steps of one file. A file that is absent holds none, which only the events may not be. */
async function* stepsOf(
  folder: string,
  name: string,
  parse: (line: Record<string, unknown>) => TraceStep,
): AsyncGenerator<Placed> {
  const file = fileOf(folder, name);
  if (!file) {
    if (name === 'events.jsonl') throw new Error(`${folder} holds no ${name} or ${name}.gz`);
    return;
  }
  const raw = createReadStream(file);
  const input = file.endsWith('.gz') ? raw.pipe(createGunzip()) : raw;
  let moment: TraceStep[] = [];
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    if (line.trim() === '') continue;
    const step = parse(JSON.parse(line) as Record<string, unknown>);
    if (moment.length > 0 && (moment[0] as TraceStep).at !== step.at) {
      yield* inPlace(moment);
      moment = [];
    }
    moment.push(step);
  }
  yield* inPlace(moment);
}

/** A device that goes and comes back within one moment does so in that order, among the connects. */
function inPlace(moment: readonly TraceStep[]): Placed[] {
  const last = new Map<string, TraceStep>();
  for (const step of moment) if ('device' in step) last.set(JSON.stringify([step.user, step.device]), step);
  return moment
    .map((step) => {
      const comesBack =
        step.kind === 'disconnect' && last.get(JSON.stringify([step.user, step.device]))?.kind === 'connect';
      return { step, place: ORDER.indexOf(comesBack ? 'connect' : step.kind) };
    })
    .toSorted((a, b) => a.place - b.place);
}

function fileOf(folder: string, name: string): string | null {
  for (const file of [path.join(folder, name), path.join(folder, `${name}.gz`)]) if (existsSync(file)) return file;
  return null;
}
