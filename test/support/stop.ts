/** A place where whoever comes to it waits until the test lets it go on. */
export interface Stop {
  /** Resolves when somebody stands there. */
  readonly reached: Promise<void>;
  readonly here: () => Promise<void>;
  readonly letGo: () => void;
}

export function createStop(): Stop {
  const reached = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  return {
    reached: reached.promise,
    async here() {
      reached.resolve();
      await gone.promise;
    },
    letGo: gone.resolve,
  };
}
