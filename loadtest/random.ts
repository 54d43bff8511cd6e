/** The same numbers for the same seed. */
export interface SeededRandom {
  /** In [0, 1). */
  fraction(): number;
  /** Whole, in [0, below). */
  below(below: number): number;
  /** One of them; there must be one. */
  pick<T>(items: readonly T[]): T;
}

export function randomOf(seed: number): SeededRandom {
  let state = seed >>> 0;
  const fraction = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(fraction() * limit);
  return { fraction, below, pick: <T>(items: readonly T[]) => items[below(items.length)] as T };
}
