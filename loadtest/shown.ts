/** What somebody shows of one user: a device, or the answer to GET. */
import { formatDigest, type Row, sumsOf, type UnreadAnswer } from '../protocol/index.ts';
import type { Device } from './device.ts';
import type { Target } from './target.ts';

export interface Shown {
  readonly name: string;
  readonly epoch: string;
  readonly syncVersion: number;
  readonly total: number;
  readonly badge: number;
  readonly mentions: number;
  readonly digest: string;
  readonly rows: readonly Row[];
}

/** How long a device may take to reach the server's version once nothing moves any more. */
const SETTLE_MS_MAX = 30_000;
const LOOK_AGAIN_MS = 500;

/** The sums are the server's. */
export async function pulled(user: string, target: Target): Promise<Shown> {
  const rows: Row[] = [];
  let next: string | undefined;
  let answer: UnreadAnswer;
  do {
    const query = next === undefined ? '' : `?cursor=${encodeURIComponent(next)}`;
    answer = await target.request<UnreadAnswer>('GET', `${unreadRoute(user)}${query}`);
    rows.push(...answer.rows);
    next = answer.next;
  } while (next !== undefined);
  const { epoch, sync_version: syncVersion, total, badge, mentions, digest } = answer;
  return { name: `GET unread of ${user}`, epoch, syncVersion, total, badge, mentions, digest, rows };
}

/**
 * What a device shows once it stands where the server stands; a device that does not get there is itself a fault. The sums are
 * counted from its rows.
 */
export async function held(device: Device, target: Target, wrong: string[]): Promise<Shown> {
  const name = `a device of ${device.user}`;
  const end = Date.now() + SETTLE_MS_MAX;
  for (;;) {
    const server = await target.request<UnreadAnswer>('GET', `${unreadRoute(device.user)}?limit=1`);
    const there = () =>
      device.isSettled && device.state.epoch === server.epoch && device.state.syncVersion >= server.sync_version;
    if (await device.waitFor(there, LOOK_AGAIN_MS)) break;
    if (Date.now() < end) continue;
    const { epoch, syncVersion } = device.state;
    wrong.push(`${name} stands at ${epoch}/${syncVersion}, the server at ${server.epoch}/${server.sync_version}`);
    break;
  }
  const { epoch, syncVersion } = device.state;
  const rows = [...device.state.rows.values()];
  const { digest, ...sums } = sumsOf(rows);
  return { name, epoch: epoch ?? '', syncVersion, ...sums, digest: formatDigest(digest), rows };
}

function unreadRoute(user: string): string {
  return `/v1/users/${encodeURIComponent(user)}/unread`;
}
