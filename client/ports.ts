// What the client takes from the outside: time, chance, the network. Tests and simulations pass in their own.

export interface ClientClock {
  /** Unix time in whole ms. Goes on while the machine sleeps; may jump when the clock is set. */
  nowMs(): number;
  /** Runs `run` once, `delayMs` or more from now; answers how to cancel it. */
  after(delayMs: number, run: () => void): () => void;
}

/** Uniform in [0, 1). */
export type ClientRandom = () => number;

/** The part of a WebSocket that is used: browsers, Node and the package `ws` have it. */
export interface WebSocketLike {
  binaryType: string;
  onopen: ((event: never) => unknown) | null;
  onmessage: ((event: never) => unknown) | null;
  onclose: ((event: never) => unknown) | null;
  onerror: ((event: never) => unknown) | null;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
}

export type WebSocketConstructor = new (url: string, protocols: string[]) => WebSocketLike;

// Longer delays make setTimeout fire at once.
const TIMER_MS_MAX = 2 ** 31 - 1;

export const systemClock: ClientClock = {
  nowMs: () => Date.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, Math.min(delayMs, TIMER_MS_MAX));
    return () => clearTimeout(timer);
  },
};

export const systemRandom: ClientRandom = () => Math.random();
