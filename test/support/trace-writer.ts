/** Makes a trace as `npm run replay` takes it, of every kind of step, with the right numbers counted by definition. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Event } from '../../protocol/index.ts';
import { Model } from './model.ts';

const USERS = ['ann', 'bob', 'cid', 'dan', 'eve'];
const CONVS = ['c1', 'c2', 'c3'];
const CHECKPOINTS = 4;
const MS_A_STEP = 1000;

export interface TraceOptions {
  readonly folder: string;
  readonly seed: number;
  readonly gzip: boolean;
  readonly steps?: number;
  /** Changes one number of the last checkpoint: whoever plays the trace has to notice. */
  readonly lie?: boolean;
}

interface Snapshot {
  at: number;
  users: Record<string, { total: number; mentions: number; badge: number; rows: Record<string, ExpectedRow> }>;
}
interface ExpectedRow {
  unread: number;
  mentions: number;
  read_upto_message_id: string | null;
}

export function writeTrace({ folder, seed, gzip, steps = 400, lie = false }: TraceOptions): void {
  const random = seeded(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const model = new Model();
  const lines = { events: [] as object[], online: [] as object[], reads: [] as object[], prefs: [] as object[] };
  const checkpoints: Snapshot[] = [];
  const ids = new Map<string, string[]>(CONVS.map((conv) => [conv, []]));
  const online = new Set<string>();
  let at = 0;

  const event = (one: Event, twice = false): void => {
    const outcome = model.post(one, JSON.stringify(one));
    if (typeof outcome === 'string') throw new Error(`the trace makes an event that is refused: ${outcome}`);
    lines.events.push({ at, event: one });
    if (twice) lines.events.push({ at, event: one });
  };
  const member = (): { conv: string; user: string } => {
    const conv = pick(CONVS);
    return { conv, user: pick(model.members(conv)) };
  };
  const snapshot = (): Snapshot => {
    const users: Snapshot['users'] = {};
    for (const user of USERS) {
      const sums = { total: 0, mentions: 0, badge: 0, rows: {} as Record<string, ExpectedRow> };
      for (const conv of CONVS) {
        const row = model.row(user, conv);
        if (!row.member || row.hidden || row.away) continue;
        sums.total += row.unread;
        sums.mentions += row.mentions;
        sums.badge += row.muted ? row.mentions : row.unread;
        const readUpTo = row.readSeq > 0 ? (ids.get(conv)?.[row.readSeq - 1] ?? null) : null;
        sums.rows[conv] = { unread: row.unread, mentions: row.mentions, read_upto_message_id: readUpTo };
      }
      users[user] = sums;
    }
    return { at, users };
  };

  for (const conv of CONVS)
    event({ type: 'conversation.created', conv, members: USERS.slice(0, 4), event_id: `made-${conv}` });
  for (let step = 1; step <= steps; step++) {
    at = step * MS_A_STEP;
    const chance = random();
    if (chance < 0.5) {
      const { conv, user } = member();
      const list = ids.get(conv) as string[];
      const message_id = `${conv}-${list.length + 1}`;
      list.push(message_id);
      const extra = random() < 0.2 ? { mentions: [pick(USERS)] } : random() < 0.1 ? { countable: false } : {};
      event({ type: 'message.created', conv, message_id, sender: user, ...extra }, random() < 0.1);
    } else if (chance < 0.6) {
      const conv = pick(CONVS);
      const message_id = pick(ids.get(conv) as string[]);
      if (message_id === undefined) continue;
      if (random() < 0.6) event({ type: 'message.recalled', conv, message_id }, random() < 0.3);
      else event({ type: 'message.edited', conv, message_id, mentions: [pick(USERS)] });
    } else if (chance < 0.65) {
      const conv = pick(CONVS);
      const user = pick(USERS);
      const isIn = model.members(conv).includes(user);
      if (isIn && model.members(conv).length < 3) continue;
      event({ type: isIn ? 'member.left' : 'member.joined', conv, users: [user], event_id: `member-${step}` });
    } else if (chance < 0.75) {
      const user = pick(USERS);
      const action = online.has(user) ? 'disconnect' : 'connect';
      if (action === 'connect') online.add(user);
      else online.delete(user);
      lines.online.push({ at, user, device: 'd1', do: action });
    } else if (chance < 0.92) {
      const { conv, user } = member();
      const upTo = pick((ids.get(conv) as string[]).slice(-5));
      if (upTo === undefined || !online.has(user)) continue;
      model.ack(user, conv, upTo);
      lines.reads.push({ at, user, device: 'd1', conv, up_to: upTo });
    } else {
      const { conv, user } = member();
      const head = (ids.get(conv) as string[]).at(-1);
      const action = pick(['mute', 'unmute', 'clear'] as const);
      if (action !== 'clear') model.prefs(user, conv, { muted: action === 'mute' });
      else if (head === undefined) continue;
      else model.clear(user, conv, model.head(conv));
      lines.prefs.push({ at, user, conv, do: action, ...(action === 'clear' ? { up_to: head } : {}) });
    }
    if (step % Math.ceil(steps / CHECKPOINTS) === 0 && step < steps) checkpoints.push(snapshot());
  }
  const final = snapshot();
  if (lie) (final.users['ann'] as Snapshot['users'][string]).total++;

  mkdirSync(folder, { recursive: true });
  const write = (name: string, text: string): void =>
    writeFileSync(path.join(folder, gzip ? `${name}.gz` : name), gzip ? gzipSync(text) : text);
  for (const [name, list] of Object.entries(lines)) {
    write(`${name}.jsonl`, list.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }
  write('expected.json', JSON.stringify({ checkpoints, final }));
}

/** A multiplicative generator: the same numbers for the same seed on every machine. */
function seeded(seed: number): () => number {
  let state = (seed * 2_654_435_761) >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
