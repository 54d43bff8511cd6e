export type Emitter<Events> = ReturnType<typeof createEmitter<Events>>;

/** Listeners by event. A listener that throws is the app's fault: the error goes to the app's error handler, not into the client. */
export function createEmitter<Events>() {
  const listeners = new Map<keyof Events, Set<(event: never) => void>>();

  return {
    /** Answers how to take the listener away again. */
    on<K extends keyof Events>(name: K, listener: (event: Events[K]) => void): () => void {
      const those = listeners.get(name) ?? new Set();
      listeners.set(name, those);
      // Wrapped, so that the same function given twice is two listeners.
      const own = (event: Events[K]) => listener(event);
      those.add(own);
      return () => {
        those.delete(own);
      };
    },

    emit: <K extends keyof Events>(name: K, event: Events[K]): void => {
      for (const listener of listeners.get(name) ?? []) {
        try {
          (listener as (event: Events[K]) => void)(event);
        } catch (error) {
          queueMicrotask(() => {
            throw error;
          });
        }
      }
    },

    clear(): void {
      listeners.clear();
    },
  };
}
