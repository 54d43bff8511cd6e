// The promise, checked while one plays: after each change, once it is quiet, the devices are compared with each other and with the
// server. Only what stands at the same (epoch, sync_version) is compared: to be behind is not to be wrong.
import { formatDigest } from '../../protocol/digest.ts';
import type { State } from '../../client/index.ts';
import type { Standing, UserStanding } from '../demo-api.ts';
import type { Device } from './device.ts';

/** What the checks need of a device. */
export interface CheckedDevice extends Pick<Device, 'person' | 'title' | 'standing'> {
  readonly client: {
    readonly state: State;
    total(): number;
    list(): readonly { readonly unread: number }[];
  };
}

export interface Verdict {
  readonly checks: number;
  /** Plain words, one for each check that failed. */
  readonly wrong: readonly string[];
  /** Live devices that stand where the server stands. */
  readonly level: number;
}

/** `standing` was asked for before the devices are looked at here; what has moved since is not compared. */
export function compare(devices: readonly CheckedDevice[], standing: Standing): Verdict {
  const wrong: string[] = [];
  let checks = 1;
  let level = 0;
  if (standing.wrong > 0) wrong.push(`the state of ${standing.wrong} of the people differs from the facts`);
  const seen = new Map<string, { device: CheckedDevice; digest: string }>();
  for (const device of devices) {
    const held = device.standing();
    if (held === null || device.client.state !== 'live') continue;
    const { epoch, syncVersion, sums } = held;
    const digest = formatDigest(sums.digest);

    checks++;
    const sum = device.client.list().reduce((total, { unread }) => total + unread, 0);
    if (device.client.total() !== sum || sums.total !== sum) {
      wrong.push(`${device.title} shows ${device.client.total()}, but its rows add up to ${sum}`);
    }

    const place = `${device.person.user} ${epoch} ${syncVersion}`;
    const other = seen.get(place);
    if (other === undefined) seen.set(place, { device, digest });
    else {
      checks++;
      if (other.digest !== digest) wrong.push(`${other.device.title} and ${device.title} hold different rows`);
    }

    const server = standing.users.find(({ user }) => user === device.person.user);
    if (server === undefined || server.epoch !== epoch || server.sync_version !== syncVersion) continue;
    checks++;
    level++;
    if (!isSame(server, sums, digest)) wrong.push(`${device.title} holds other numbers than the server`);
  }
  return { checks, wrong, level };
}

function isSame(server: UserStanding, sums: { total: number; badge: number; mentions: number }, digest: string) {
  const { total, badge, mentions } = sums;
  return server.digest === digest && server.total === total && server.badge === badge && server.mentions === mentions;
}
