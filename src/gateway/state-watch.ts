import type { Log } from '../log.ts';
import { logError } from '../log.ts';
import type { Clock } from '../ports.ts';
import type { Services } from '../services/services.ts';
import type { Registry } from './registry.ts';

export interface StateWatchDeps {
  readonly registry: Registry;
  readonly sync: Pick<Services['sync'], 'view'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Within this time every connected user is compared once. */
  readonly roundMs: number;
}

/** Steps of a round, so that the reads of a round are spread over it. */
const STEPS = 25;
const READS_AT_ONCE = 50;
/** Above every version: no rows are wanted, only where the user stands. */
const NO_ROWS = Number.MAX_SAFE_INTEGER;

/**
 * DESIGN §3.7: in the background, once a heartbeat period, the versions of the connected users are compared with the state, and with
 * that the revs of their large conversations. So a wake-up that was lost is made up for while everybody stays connected.
 */
export class StateWatch {
  readonly #deps: StateWatchDeps;
  #left: string[] = [];
  #stepUsers = 0;
  #isStopped = false;
  #cancel: (() => void) | null = null;

  constructor(deps: StateWatchDeps) {
    this.#deps = deps;
    this.#schedule();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  #schedule(): void {
    if (!this.#isStopped) this.#cancel = this.#deps.clock.after(this.#deps.roundMs / STEPS, () => void this.#step());
  }

  async #step(): Promise<void> {
    if (this.#left.length === 0) {
      this.#left = [...this.#deps.registry.users()];
      this.#stepUsers = Math.ceil(this.#left.length / STEPS);
    }
    const users = this.#left.splice(0, this.#stepUsers);
    for (let i = 0; i < users.length; i += READS_AT_ONCE) {
      await Promise.all(users.slice(i, i + READS_AT_ONCE).map((user) => this.#compare(user)));
    }
    this.#schedule();
  }

  async #compare(user: string): Promise<void> {
    const { registry, sync, log } = this.#deps;
    const mark = registry.largeMark;
    try {
      const view = await sync.view(user, NO_ROWS);
      registry.concerns(user, view.large, mark);
      for (const session of registry.sessionsOf(user)) session.compare(view);
    } catch (error) {
      logError(log, error, 'a connected user could not be compared with the state');
    }
  }
}
