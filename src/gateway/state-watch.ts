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
/** Of a round in a hurry, within the limit of users a step: whole nodes may have missed the same. */
const HURRIED_STEPS = 4;
const HURRIED_STEP_MS = 250;
const HURRIED_USERS_MAX = 1000;
const READS_AT_ONCE = 50;
/** Above every version: no rows are wanted, only where the user stands. */
const NO_ROWS = Number.MAX_SAFE_INTEGER;

/**
 * ARCHITECTURE, flows: in the background, once a heartbeat period, the versions of the connected users are compared with the state, and with
 * that the revs of their large conversations. So a wake-up that was lost is made up for while everybody stays connected.
 */
export class StateWatch {
  readonly #deps: StateWatchDeps;
  #left: string[] = [];
  #stepUsers = 0;
  #isHurried = false;
  /** Asked for since the present round began. */
  #mustHurry = false;
  #isStopped = false;
  #cancel: (() => void) | null = null;

  constructor(deps: StateWatchDeps) {
    this.#deps = deps;
    this.#schedule();
  }

  /** Wake-ups were lost: of these users; without them, nobody knows of whom. */
  missed(users?: readonly string[]): void {
    if (users === undefined) this.#hurry();
    else void this.#look(users);
  }

  /** Everybody is compared now. One who asks while that is under way gets another round. */
  #hurry(): void {
    // Not put off by whoever asks once more: those who ask all the time would get no round at all.
    const isDue = this.#mustHurry || this.#isHurried || this.#cancel === null;
    this.#mustHurry = true;
    if (isDue) return;
    this.#cancel?.();
    this.#schedule();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  #schedule(): void {
    if (this.#isStopped) return;
    const { clock, roundMs } = this.#deps;
    const delayMs = this.#isHurried || this.#mustHurry ? HURRIED_STEP_MS : roundMs / STEPS;
    this.#cancel = clock.after(delayMs, () => void this.#step());
  }

  async #step(): Promise<void> {
    this.#cancel = null;
    if (this.#left.length === 0 || (this.#mustHurry && !this.#isHurried)) this.#begin();
    await this.#look(this.#left.splice(0, this.#stepUsers));
    this.#schedule();
  }

  async #look(users: readonly string[]): Promise<void> {
    const faults: unknown[] = [];
    for (let i = 0; i < users.length; i += READS_AT_ONCE) {
      const outcomes = await Promise.allSettled(
        users.slice(i, i + READS_AT_ONCE).map(async (user) => this.#compare(user)),
      );
      faults.push(...outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : [])));
    }
    if (faults.length > 0) {
      // What was to be found in a hurry still is.
      this.#mustHurry ||= this.#isHurried;
      logError(this.#deps.log, faults[0], `${faults.length} connected users could not be compared with the state`);
    }
  }

  #begin(): void {
    this.#isHurried = this.#mustHurry;
    this.#mustHurry = false;
    this.#left = [...this.#deps.registry.users()];
    const steps = this.#isHurried ? HURRIED_STEPS : STEPS;
    const stepUsers = Math.ceil(this.#left.length / steps);
    this.#stepUsers = this.#isHurried ? Math.min(stepUsers, HURRIED_USERS_MAX) : stepUsers;
  }

  async #compare(user: string): Promise<void> {
    const { registry, sync } = this.#deps;
    const mark = registry.largeMark;
    const view = await sync.view(user, NO_ROWS);
    registry.concerns(user, view.large, mark);
    for (const session of registry.sessionsOf(user)) session.compare(view);
  }
}
