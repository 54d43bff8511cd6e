import type { Redis } from 'ioredis';
import type { Clock } from '../../ports.ts';
import type { PartitionCalls } from './partition-calls.ts';

export interface SubscriptionOptions {
  readonly calls: PartitionCalls;
  readonly clock: Clock;
  readonly partition: number;
  readonly channel: string;
  readonly heard: (text: string) => void;
  /** It is listened to from now on; again: what was published meanwhile is lost. */
  readonly begun: (isAgain: boolean) => void;
  readonly onError: (error: unknown) => void;
}

const LOOK_MS = 1000;
const LOOKS_IN_VAIN_MAX = 3;

/**
 * One channel, heard on a connection of its own at the master that serves its partition. Once a second the connection is tried and
 * compared with the one that publishes go to: it is made anew where it is dead, or at another server than these.
 */
export class Subscription {
  readonly #options: SubscriptionOptions;
  #redis: Redis | null = null;
  #isClosed = false;
  #stopLooking: () => void = () => {};
  #listeners: (() => void)[] = [];
  #isHeard = false;
  #wasHeard = false;
  #looksInVain = 0;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
    this.#open();
    this.#lookLater();
  }

  get isHeard(): boolean {
    return this.#isHeard;
  }

  /** Resolves when the channel is being listened to. */
  heard(): Promise<void> {
    return this.#isHeard ? Promise.resolve() : new Promise((resolve) => this.#listeners.push(resolve));
  }

  close(): void {
    this.#isClosed = true;
    this.#stopLooking();
    this.#drop();
  }

  #open(): void {
    const { calls, partition, channel, heard, onError } = this.#options;
    const redis = calls.connectTo(partition);
    this.#redis = redis;
    if (!redis) return;
    redis.on('error', onError);
    redis.on('smessage', (_channel: string, text: string) => heard(text));
    redis.on('ready', () => {
      redis.ssubscribe(channel).then(
        () => this.#nowHeard(redis),
        (error: unknown) => {
          onError(error);
          if (redis === this.#redis) this.#drop();
        },
      );
    });
  }

  #nowHeard(redis: Redis): void {
    if (redis !== this.#redis) return;
    this.#isHeard = true;
    this.#options.begun(this.#wasHeard);
    this.#wasHeard = true;
    for (const resolve of this.#listeners.splice(0)) resolve();
  }

  #drop(): void {
    this.#redis?.disconnect();
    this.#redis = null;
    this.#isHeard = false;
  }

  #lookLater(): void {
    this.#stopLooking = this.#options.clock.after(LOOK_MS, () => {
      void this.#look().then(() => {
        if (!this.#isClosed) this.#lookLater();
      });
    });
  }

  async #look(): Promise<void> {
    const redis = this.#redis;
    if (redis && !(await this.#isWhereItBelongs(redis)) && redis === this.#redis) this.#drop();
    if (!this.#isClosed && this.#redis === null) this.#open();
  }

  async #isWhereItBelongs(redis: Redis): Promise<boolean> {
    const { calls, partition, onError } = this.#options;
    const copy = calls.copyOf(partition);
    // Nobody can publish now; whether the connection is of use shows when somebody can.
    if (copy === null) return true;
    // It may be on its way to a server that is gone for good.
    if (redis.status !== 'ready') return ++this.#looksInVain < LOOKS_IN_VAIN_MAX;
    this.#looksInVain = 0;
    try {
      return (await redis.info('server')).includes(`run_id:${copy.runId}`);
    } catch (error) {
      onError(error);
      return false;
    }
  }
}
