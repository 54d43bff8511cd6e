import type { SeededRandom } from './random.ts';

export interface OpenLoop {
  /** Arrivals a second on average; their gaps are random as those of independent senders are (Poisson). */
  readonly rate: number;
  readonly seconds: number;
  readonly random: SeededRandom;
  /** `dueMs`, on the clock of `performance.now()`, is when it should have happened: every time is counted from there. */
  readonly arrive: (dueMs: number) => void;
}

const MS_PER_SECOND = 1000;

/**
 * Arrivals that do not wait for answers. When the server, or this program, falls behind, they keep their times and are handed over
 * late, so that whoever would have waited is counted as having waited (no coordinated omission).
 */
export async function runOpenLoop({ rate, seconds, random, arrive }: OpenLoop): Promise<void> {
  const startMs = performance.now();
  const endMs = startMs + seconds * MS_PER_SECOND;
  const gapMs = (): number => (-Math.log(1 - random.fraction()) * MS_PER_SECOND) / rate;
  let dueMs = startMs + gapMs();
  while (dueMs < endMs) {
    const nowMs = performance.now();
    if (dueMs > nowMs) {
      await new Promise((resolve) => setTimeout(resolve, dueMs - nowMs));
      continue;
    }
    arrive(dueMs);
    dueMs += gapMs();
  }
  const leftMs = endMs - performance.now();
  if (leftMs > 0) await new Promise((resolve) => setTimeout(resolve, leftMs));
}
