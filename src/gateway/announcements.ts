import { logError } from '../log.ts';
import type { Log } from '../log.ts';
import type { Clock, OpenedConnection, Wakeup } from '../ports.ts';
import type { Session } from './session.ts';

interface AnnouncementsDeps {
  readonly wakeup: Pick<Wakeup, 'publishOpened'>;
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Log;
}

/** Sockets that open together, as after a restart, are one message. */
const MERGE_MS = 20;

/** Tells all nodes which devices have connected here, so that an older connection of one ends there. */
export class Announcements {
  readonly #deps: AnnouncementsDeps;
  #waiting: OpenedConnection[] = [];

  constructor(deps: AnnouncementsDeps) {
    this.#deps = deps;
  }

  add({ user, device, conn, attempt }: Pick<Session, 'user' | 'device' | 'conn' | 'attempt'>): void {
    this.#waiting.push({ user, device, conn, attempt: attempt ?? null });
    if (this.#waiting.length === 1) this.#deps.clock.after(MERGE_MS, () => void this.#publish());
  }

  /** A hint: where it is lost, a device has two connections for a while, and both are right. */
  async #publish(): Promise<void> {
    const { wakeup, log } = this.#deps;
    try {
      await wakeup.publishOpened(this.#waiting.splice(0));
    } catch (error) {
      logError(log, error, 'the other nodes were not told of new connections');
    }
  }
}
