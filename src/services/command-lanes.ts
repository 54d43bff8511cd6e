import type { Deadline } from '../deadline.ts';
import { tooLate } from '../deadline.ts';
import { Unavailable } from '../errors.ts';

/** What a user's devices and server send: facts about one user, to be carried out in the order received (AK4). */
export interface Queued<Command, Answer> {
  readonly command: Command;
  /** Until when it is waited for; absent: for ever. */
  readonly deadline: Deadline | undefined;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

export interface LanesOptions<Command, Answer> {
  /** Carries out commands of one user, taken from the front of its lane; settles each of them and never throws. */
  readonly run: (user: string, commands: readonly Queued<Command, Answer>[]) => Promise<void>;
  /** How many from the front of a lane may run as one: at least 1. */
  readonly countTogether: (lane: readonly Queued<Command, Answer>[]) => number;
  readonly waitingMax: number;
}

/** One lane a user: commands of one user run one after another, those of different users side by side. */
export class CommandLanes<Command, Answer> {
  readonly #options: LanesOptions<Command, Answer>;
  readonly #lanes = new Map<string, Queued<Command, Answer>[]>();
  #idleListeners: (() => void)[] = [];

  constructor(options: LanesOptions<Command, Answer>) {
    this.#options = options;
  }

  add(user: string, command: Command, deadline?: Deadline): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const queued = { command, deadline, resolve, reject };
      const lane = this.#lanes.get(user);
      if (!lane) {
        const opened = [queued];
        this.#lanes.set(user, opened);
        void this.#run(user, opened);
      } else if (lane.length >= this.#options.waitingMax) {
        reject(new Unavailable('too many commands of this user are waiting', 1000, 'rate_limited'));
      } else lane.push(queued);
    });
  }

  /** Resolves when every lane is empty. */
  idle(): Promise<void> {
    if (this.#lanes.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleListeners.push(resolve));
  }

  async #run(user: string, lane: Queued<Command, Answer>[]): Promise<void> {
    // One turn later, so that frames which arrive together are seen together.
    await Promise.resolve();
    while (lane.length > 0) {
      const front = lane.splice(0, this.#options.countTogether(lane)).filter(isWaitedFor);
      if (front.length > 0) await this.#options.run(user, front);
    }
    this.#lanes.delete(user);
    if (this.#lanes.size === 0) for (const resolve of this.#idleListeners.splice(0)) resolve();
  }
}

/**
 * Its device has been told to send it again, and may have changed its mind since, on another node too: what has not begun by then
 * is never carried out.
 */
export function isWaitedFor<Command, Answer>({ deadline, reject }: Queued<Command, Answer>): boolean {
  if (deadline?.isOver !== true) return true;
  reject(tooLate());
  return false;
}
