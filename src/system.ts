import { randomBytes } from 'node:crypto';
import type { Clock, Random } from './ports.ts';

/** Clock and Random on the real system. Everything else gets them passed in. */

// What a timer of the platform can wait for; a longer delay would fire at once.
const TIMER_MS_MAX = 2 ** 31 - 1;
const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';
// The largest multiple of 36 that a byte can hold: bytes from here on would make some characters likelier than others.
const FAIR_BYTES = 252;

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  steadyMs: () => performance.now(),
  after(delayMs, run) {
    let timer: NodeJS.Timeout;
    const wait = (leftMs: number): void => {
      const stepMs = Math.min(leftMs, TIMER_MS_MAX);
      timer = setTimeout(() => (leftMs > stepMs ? wait(leftMs - stepMs) : run()), stepMs);
    };
    wait(Math.max(0, delayMs));
    return () => clearTimeout(timer);
  },
  // The check phase comes after the poll phase, in which everything that has arrived is read.
  soon: (run) => void setImmediate(run),
};

export const systemRandom: Random = {
  fraction: () => Math.random(),
  token(length) {
    let token = '';
    while (token.length < length) {
      for (const byte of randomBytes(length)) {
        if (byte < FAIR_BYTES && token.length < length) token += ALPHABET[byte % ALPHABET.length];
      }
    }
    return token;
  },
};
