/** The changes of a user as they are pushed, for the person who looks on. A hint as the wake-up is: what is lost is not made up for. */
import type { Deadline } from '../deadline.ts';
import { Unavailable } from '../errors.ts';
import type { Change, Clock, StateStore, Wakeup, WakeupListener } from '../ports.ts';

export interface WatchDeps {
  readonly wakeup: Pick<Wakeup, 'subscribe'>;
  readonly state: Pick<StateStore, 'read'>;
  readonly clock: Clock;
}

export interface Watched {
  /** What came since the last look, at the latest after some seconds; null: the watch is over. */
  next(): Promise<readonly Change[] | null>;
  close(): void;
}

/** On this node at once: people who look, not programs. */
const WATCHES_MAX = 32;
/** Changes that wait for a reader; the oldest are dropped. */
const WAITING_MAX = 100;
const BEAT_MS = 15_000;
const RETRY_MS = 5000;
/** Above every version: no rows are wanted. */
const NO_ROWS = Number.MAX_SAFE_INTEGER;

export class Watch implements WakeupListener {
  readonly #deps: WatchDeps;
  readonly #watches = new Map<string, Set<OpenWatch>>();
  #count = 0;
  #isOver = false;

  constructor(deps: WatchDeps) {
    this.#deps = deps;
    deps.wakeup.subscribe(this);
  }

  /** From the moment that it resolves; not at all where that would be too late for whoever asked. */
  async open(user: string, deadline?: Deadline): Promise<Watched> {
    if (this.#isOver || this.#count >= WATCHES_MAX) {
      throw new Unavailable(`at most ${WATCHES_MAX} users are watched at once`, RETRY_MS);
    }
    const { state, clock } = this.#deps;
    const watch = new OpenWatch(
      clock,
      () => state.read(user, NO_ROWS),
      () => this.#leave(user, watch),
    );
    this.#count++;
    this.#watches.set(user, (this.#watches.get(user) ?? new Set()).add(watch));
    try {
      await watch.register();
      deadline?.demand();
    } catch (error) {
      watch.close();
      throw error;
    }
    return watch;
  }

  changes(changes: readonly Change[]): void {
    if (this.#count === 0) return;
    for (const change of changes) for (const watch of this.#watches.get(change.user) ?? []) watch.add(change);
  }

  holds(user: string): boolean {
    return this.#watches.has(user);
  }

  large(): void {}

  disconnect(): void {}

  /** Ends all of them, and takes no more. */
  close(): void {
    this.#isOver = true;
    for (const watches of this.#watches.values()) for (const watch of watches) watch.close();
  }

  #leave(user: string, watch: OpenWatch): void {
    const watches = this.#watches.get(user);
    if (watches?.delete(watch) !== true) return;
    this.#count--;
    if (watches.size === 0) this.#watches.delete(user);
  }
}

class OpenWatch implements Watched {
  /** Nodes that do not read the state of a user are not told of the user's changes for long. */
  readonly register: () => Promise<unknown>;
  readonly #clock: Clock;
  readonly #left: () => void;
  #waiting: Change[] = [];
  #wake: (() => void) | null = null;
  #isOver = false;

  constructor(clock: Clock, register: () => Promise<unknown>, left: () => void) {
    this.#clock = clock;
    this.register = register;
    this.#left = left;
  }

  add(change: Change): void {
    this.#waiting.push(change);
    if (this.#waiting.length > WAITING_MAX) this.#waiting.shift();
    this.#wake?.();
  }

  async next(): Promise<readonly Change[] | null> {
    if (this.#waiting.length === 0 && !this.#isOver) await this.#somethingOrBeat();
    if (this.#isOver) return null;
    const changes = this.#waiting;
    this.#waiting = [];
    if (changes.length === 0) await this.register();
    return changes;
  }

  close(): void {
    this.#isOver = true;
    this.#left();
    this.#wake?.();
  }

  async #somethingOrBeat(): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(BEAT_MS, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
    this.#wake = null;
  }
}
