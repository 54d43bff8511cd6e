import type { Need } from './need.ts';

/**
 * One line of the table: a figure of ours beside its baseline, taken in turn within one run, since machines are shared and drift.
 * A budget is missed only by more than the noise band.
 */
export interface Line {
  readonly name: string;
  /** What is compared, for whoever reads the table. */
  readonly what: string;
  readonly budget: Budget;
  readonly needs?: readonly Need[];
  run(): Promise<Outcome>;
}

/** What the value must be. Figures that are counted and not measured know no noise. */
export interface Budget {
  readonly kind: 'at most' | 'at least' | 'exactly';
  readonly bound: number;
  readonly unit: string;
  readonly isCounted?: boolean;
}

export interface Outcome {
  readonly value: number;
  /** What the value was made of, such as both medians. */
  readonly detail: string;
}

/** Share by which a measured value may lie outside its budget before it counts as a miss. */
const NOISE = 0.15;

export function isMet({ kind, bound, isCounted = false }: Budget, value: number): boolean {
  const noise = isCounted ? 0 : NOISE;
  switch (kind) {
    case 'exactly':
      return value === bound;
    case 'at most':
      return value <= bound * (1 + noise);
    case 'at least':
      return value >= bound * (1 - noise);
  }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

export const ROUNDS = 9;

/** Runs the two in turn, A B A B …, after one round that does not count; answers both medians in milliseconds. */
export async function inTurn(
  a: () => Promise<void> | void,
  b: () => Promise<void> | void,
): Promise<{ aMs: number; bMs: number }> {
  const took = async (run: () => Promise<void> | void): Promise<number> => {
    const since = performance.now();
    await run();
    return performance.now() - since;
  };
  await a();
  await b();
  const as: number[] = [];
  const bs: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    as.push(await took(a));
    bs.push(await took(b));
  }
  return { aMs: median(as), bMs: median(bs) };
}
