/** Holds what every device shows, and what GET answers for everybody else, against the expected numbers. */
import type { Device } from '../device.ts';
import { inParallel } from '../in-parallel.ts';
import { held, pulled, type Shown } from '../shown.ts';
import type { Target } from '../target.ts';
import type { Player } from './player.ts';
import type { Checkpoint, ExpectedUser } from './trace.ts';

export interface Verdict {
  /** What was looked at: devices and answers. */
  readonly views: number;
  readonly rows: number;
  readonly wrong: string[];
}

const PARALLEL_USERS = 32;

export async function check(checkpoint: Checkpoint, player: Player, target: Target): Promise<Verdict> {
  const verdict: Verdict & { views: number; rows: number } = { views: 0, rows: 0, wrong: [] };
  const devicesOf = new Map<string, Device[]>();
  for (const device of player.connectedDevices()) {
    devicesOf.set(device.user, [...(devicesOf.get(device.user) ?? []), device]);
  }
  const users = [...new Set([...Object.keys(checkpoint.users), ...devicesOf.keys()])];
  const nobody: ExpectedUser = { total: 0, mentions: 0, rows: {} };
  await inParallel(users, PARALLEL_USERS, async (user) => {
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
