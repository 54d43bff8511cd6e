/** All devices of all people. */
import type { ServerFrame } from '../protocol/index.ts';
import type { Cast, Person } from './cast.ts';
import { Device } from './device.ts';
import { inParallel } from './in-parallel.ts';
import type { Target } from './target.ts';

export interface CrowdOptions {
  readonly target: Target;
  readonly cast: Cast;
  /** Answers who is to be told the frames of one device. */
  readonly watch: (user: string) => (frame: ServerFrame) => void;
}

/** Devices that are being greeted at once, at the start. */
const CONNECTING_MAX = 200;
const SETTLE_MS_MAX = 60_000;

export class Crowd {
  readonly devices: readonly Device[];
  readonly #byUser = new Map<string, Device[]>();

  constructor({ target, cast, watch }: CrowdOptions) {
    for (const { user, devices } of cast.people) {
      const own = Array.from({ length: devices }, (_, i) => {
        const place = this.#byUser.size + i;
        // Half of them on each codec.
        return new Device({ target, user, device: `d${i}`, binary: place % 2 === 1, place, onFrame: watch(user) });
      });
      this.#byUser.set(user, own);
    }
    this.devices = [...this.#byUser.values()].flat();
  }

  devicesOf({ user }: Person): readonly Device[] {
    return this.#byUser.get(user) ?? [];
  }

  /** Resolves when every device shows what the server has of its user. */
  async connect(): Promise<void> {
    await inParallel(this.devices, CONNECTING_MAX, async (device) => {
      device.connect();
      if (!(await device.waitFor(() => device.isSettled, SETTLE_MS_MAX))) {
        throw new Error(`a device was not brought up to date within ${SETTLE_MS_MAX} ms: is the address right?`);
      }
    });
  }

  async disconnect(): Promise<void> {
    await inParallel(this.devices, CONNECTING_MAX, (device) => device.disconnect());
  }

  /** Sums over all devices. */
  get counts(): { reconnects: number; syncs: number; failed: number } {
    const sum = { reconnects: 0, syncs: 0, failed: 0 };
    for (const { counts } of this.devices) {
      sum.reconnects += counts.reconnects;
      sum.syncs += counts.syncs;
      sum.failed += counts.failed;
    }
    return sum;
  }
}
