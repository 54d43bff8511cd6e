import type { Clock } from '../ports.ts';

export interface Visited {
  /** `nowMs`: of the steady clock. */
  visit(nowMs: number): void;
}

const SPOKES = 16;

/**
 * One timer for all sockets: a wheel that visits each of them once a turn, a sixteenth of them at a time. Whatever has a deadline (hello,
 * heartbeat, silence, expiry, a write that does not end) is looked at there, so a deadline is kept to within one turn.
 */
export class Heartbeat {
  readonly #clock: Clock;
  readonly #spokeMs: number;
  readonly #spokes: readonly Set<Visited>[] = Array.from({ length: SPOKES }, () => new Set<Visited>());
  #next = 0;
  #count = 0;
  #cancel: (() => void) | null = null;

  constructor(clock: Clock, turnMs: number) {
    this.#clock = clock;
    this.#spokeMs = turnMs / SPOKES;
  }

  add(visited: Visited): void {
    const spoke = this.#spokes[this.#count++ % SPOKES] as Set<Visited>;
    spoke.add(visited);
    this.#cancel ??= this.#clock.after(this.#spokeMs, this.#turn);
  }

  /** Looks at every spoke: cheaper than to remember the right one for each of those that stay. */
  remove(visited: Visited): void {
    for (const spoke of this.#spokes) if (spoke.delete(visited)) return;
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
    for (const spoke of this.#spokes) spoke.clear();
  }

  readonly #turn = (): void => {
    this.#cancel = null;
    const nowMs = this.#clock.steadyMs();
    const spoke = this.#spokes[this.#next] as Set<Visited>;
    this.#next = (this.#next + 1) % SPOKES;
    // Removing while walking is safe, and a session that a visit adds is new.
    for (const visited of spoke) visited.visit(nowMs);
    if (this.#spokes.some(({ size }) => size > 0)) this.#cancel ??= this.#clock.after(this.#spokeMs, this.#turn);
  };
}
