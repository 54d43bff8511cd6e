import type { Clock } from '../ports.ts';
import type { FrameRate } from './frame-rate.ts';
import type { GatewaySocket } from './gateway-socket.ts';

export interface IntakeDeps {
  readonly clock: Clock;
  readonly frameRate: FrameRate;
}

/** Why a socket is not being read. */
const Held = { greeting: 1, rate: 2, load: 4, leaving: 8 } as const;
type Reason = (typeof Held)[keyof typeof Held];

/** Above it the socket is not read until half of it is gone. */
const LOAD_MAX = 1000;

/**
 * How fast one socket is read. Whoever sends more than the rate allows, or more commands than are answered, is read more slowly: the
 * network holds the rest back, and nothing is lost. What was read before that is still handed over: at most one chunk of the network.
 */
export class Intake {
  readonly #deps: IntakeDeps;
  readonly #socket: GatewaySocket;
  #held = 0;
  /** See FrameRate. */
  #rateDueMs: number;
  #load = 0;

  constructor(deps: IntakeDeps, socket: GatewaySocket) {
    this.#deps = deps;
    this.#socket = socket;
    this.#rateDueMs = deps.clock.steadyMs();
  }

  get isHeld(): boolean {
    return this.#held !== 0;
  }

  /** Weight of the frames whose answers are not written yet. */
  get load(): number {
    return this.#load;
  }

  /** Counts a frame; answers for how many ms nothing more is read (0: go on). */
  count(): number {
    const { clock, frameRate } = this.#deps;
    const nowMs = clock.steadyMs();
    this.#rateDueMs = frameRate.afterFrame(this.#rateDueMs, nowMs);
    const owedMs = frameRate.owedMs(this.#rateDueMs, nowMs);
    if (owedMs > 0 && (this.#held & Held.rate) === 0) this.#holdForRate(owedMs);
    return owedMs;
  }

  addLoad(weight: number): void {
    this.#load += weight;
    if (this.#load > LOAD_MAX) this.#hold(Held.load);
  }

  removeLoad(weight: number): void {
    this.#load -= weight;
    if (this.#load <= LOAD_MAX / 2) this.#release(Held.load);
  }

  holdForGreeting(): void {
    this.#hold(Held.greeting);
  }

  greeted(): void {
    this.#release(Held.greeting);
  }

  /** For good: the socket is about to be sent away. */
  stop(): void {
    this.#hold(Held.leaving);
  }

  /** A socket that is closing has to be read, or the end of it would never be seen. */
  end(): void {
    this.#held = 0;
    this.#socket.resume();
  }

  #hold(reason: Reason): void {
    if (!this.#socket.isOpen) return;
    if (this.#held === 0) this.#socket.pause();
    this.#held |= reason;
  }

  #release(reason: Reason): void {
    if ((this.#held & reason) === 0) return;
    this.#held &= ~reason;
    if (this.#held === 0) this.#socket.resume();
  }

  #holdForRate(waitMs: number): void {
    const { clock, frameRate } = this.#deps;
    this.#hold(Held.rate);
    clock.after(waitMs, () => {
      const owedMs = frameRate.owedMs(this.#rateDueMs, clock.steadyMs());
      if (owedMs > 0 && this.#socket.isOpen) this.#holdForRate(owedMs);
      else this.#release(Held.rate);
    });
  }
}
