/** Holds what every device shows, and what GET answers for everybody else, against the expected numbers. */
import type { Row, UnreadAnswer } from '../../protocol/index.ts';
import type { Device } from './device.ts';
import type { Player } from './player.ts';
import type { Target } from './target.ts';
import type { Checkpoint, ExpectedUser } from './trace.ts';

export interface Verdict {
  /** What was looked at: devices and answers. */
  readonly views: number;
  readonly rows: number;
  readonly wrong: string[];
}

interface Shown {
  readonly name: string;
  readonly total: number;
  readonly badge: number;
  readonly mentions: number;
  readonly rows: readonly Row[];
}

/** How long a device may take to reach the server's version once nothing moves any more. */
const SETTLE_MS_MAX = 30_000;
const PARALLEL_USERS = 32;

export async function check(checkpoint: Checkpoint, player: Player, target: Target): Promise<Verdict> {
  const verdict: Verdict & { views: number; rows: number } = { views: 0, rows: 0, wrong: [] };
  const devicesOf = new Map<string, Device[]>();
  for (const device of player.connectedDevices()) {
    devicesOf.set(device.user, [...(devicesOf.get(device.user) ?? []), device]);
  }
  const users = [...new Set([...Object.keys(checkpoint.users), ...devicesOf.keys()])];
  const nobody: ExpectedUser = { total: 0, mentions: 0, rows: {} };
  await inParallel(users, async (user) => {
    const expected = checkpoint.users[user] ?? nobody;
    const devices = devicesOf.get(user) ?? [];
    const views: Shown[] = [];
    if (devices.length === 0) views.push(await pulled(user, target));
    for (const device of devices) views.push(await held(device, target, verdict.wrong));
    for (const view of views) {
      verdict.views++;
      verdict.rows += view.rows.length;
      compare(view, expected, player, verdict.wrong);
    }
  });
  return verdict;
}

async function pulled(user: string, target: Target): Promise<Shown> {
  const rows: Row[] = [];
  let next: string | undefined;
  let answer: UnreadAnswer;
  do {
    const query = next === undefined ? '' : `?cursor=${encodeURIComponent(next)}`;
    answer = await target.request<UnreadAnswer>('GET', `/v1/users/${encodeURIComponent(user)}/unread${query}`);
    rows.push(...answer.rows);
    next = answer.next;
  } while (next !== undefined);
  return { ...answer, name: `GET unread of ${user}`, rows };
}

/** What a device shows once it stands where the server stands; a device that does not get there is itself a fault. */
async function held(device: Device, target: Target, wrong: string[]): Promise<Shown> {
  const name = `a device of ${device.user}`;
  const route = `/v1/users/${encodeURIComponent(device.user)}/unread?limit=1`;
  const end = Date.now() + SETTLE_MS_MAX;
  for (;;) {
    const server = await target.request<UnreadAnswer>('GET', route);
    const there = () =>
      device.isSettled && device.state.epoch === server.epoch && device.state.syncVersion >= server.sync_version;
    if (await device.waitFor(there, 500)) break;
    if (Date.now() < end) continue;
    const { epoch, syncVersion } = device.state;
    wrong.push(`${name} stands at ${epoch}/${syncVersion}, the server at ${server.epoch}/${server.sync_version}`);
    break;
  }
  const { total, badge, mentions, rows } = device.state;
  return { name, total, badge, mentions, rows: [...rows.values()] };
}

function compare(view: Shown, expected: ExpectedUser, player: Player, wrong: string[]): void {
  const say = (what: string, right: unknown, got: unknown): void => {
    if (right !== got) wrong.push(`${view.name}: ${what} is ${String(got)}, not ${String(right)}`);
  };
  say('total', expected.total, view.total);
  say('mentions', expected.mentions, view.mentions);
  // Without a badge in the file nobody was muted, and the badge is the total (CN3).
  say('badge', expected.badge ?? expected.total, view.badge);
  const listed = new Map(
    view.rows.filter((row) => row.gone !== true && row.hidden !== true).map((row) => [row.conv, row]),
  );
  for (const [conv, right] of Object.entries(expected.rows)) {
    const row = listed.get(conv);
    listed.delete(conv);
    if (!row) {
      wrong.push(`${view.name}: ${conv} is not listed`);
      continue;
    }
    say(`unread of ${conv}`, right.unread, row.unread);
    say(`mentions of ${conv}`, right.mentions, row.mentions);
    const { read_upto_message_id: upTo } = right;
    if (upTo !== null) say(`watermark of ${conv}`, player.seqOf(conv, upTo), row.read_seq);
  }
  for (const conv of listed.keys()) wrong.push(`${view.name}: ${conv} is listed`);
}

async function inParallel<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < items.length) await run(items[next++] as T);
  };
  await Promise.all(Array.from({ length: PARALLEL_USERS }, worker));
}
