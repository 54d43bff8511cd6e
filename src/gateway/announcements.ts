import { logError } from '../log.ts';
import type { Log } from '../log.ts';
import type { Clock, Wakeup } from '../ports.ts';
import type { Session } from './session.ts';

export interface AnnouncementsDeps {
  readonly wakeup: Pick<Wakeup, 'publishOpened'>;
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Log;
}

/** Sockets that open together, as after a restart, are one message. */
const MERGE_MS = 20;
const AGAIN_MS = 250;

/** Tells all nodes which devices have connected here, so that an older connection of one ends there. */
export class Announcements {
  readonly #deps: AnnouncementsDeps;
  readonly #isIn: (session: Session) => boolean;
  #waiting: Session[] = [];

  /** `isIn`: whether the session is still that of its device. */
  constructor(deps: AnnouncementsDeps, isIn: (session: Session) => boolean) {
    this.#deps = deps;
    this.#isIn = isIn;
  }

  add(session: Session): void {
    this.#waiting.push(session);
    if (this.#waiting.length === 1) this.#deps.clock.after(MERGE_MS, () => void this.#publish());
  }

  /** A hint: where it is lost, a device has two connections for a while, and both are right. */
  async #publish(): Promise<void> {
    const { wakeup, clock, log } = this.#deps;
    // One that has ended may have a successor elsewhere by now, which nobody is to take for the older.
    const sessions = this.#waiting.splice(0).filter(this.#isIn);
    try {
      await wakeup.publishOpened(
        sessions.map(({ user, device, conn, attempt }) => ({ user, device, conn, attempt: attempt ?? null })),
      );
    } catch (error) {
      logError(log, error, 'the other nodes were not told of new connections');
      // Told later it could come behind what is newer, where no attempt tells which is.
      const counted = sessions.filter(({ attempt }) => attempt !== undefined);
      clock.after(AGAIN_MS, () => counted.filter(this.#isIn).forEach((session) => this.add(session)));
    }
  }
}
