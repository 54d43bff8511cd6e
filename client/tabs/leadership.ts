// Which tab of a browser holds the socket: the one that holds a Web Lock. The system gives the lock away when a tab is closed
// or crashes, so no tab has to find out whether another one is alive.

export interface LeadershipHandler {
  elected(): void;
  /** Another tab has taken the lock: this one was too slow for it. */
  deposed(): void;
}

export function createLeadership(locks: LockManager, name: string, handler: LeadershipHandler) {
  /** While this tab leads. */
  let release: (() => void) | null = null;
  let waiting: AbortController | null = null;

  /** Resolves when it is known whether the lock was got; it is held until `leave`. */
  async function request(options: LockOptions): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const lead = async (): Promise<void> => {
      resolve(true);
      waiting = null;
      const end = Promise.withResolvers<void>();
      release = end.resolve;
      handler.elected();
      await end.promise;
    };
    const held = locks.request(name, options, async (lock) => (lock === null ? resolve(false) : lead()));
    held.catch((error: unknown) => {
      // Not given up by `leave`, nor was the lock stolen: this page may have no locks, so there are no tabs to share with.
      if ((error as DOMException).name !== 'AbortError') return void lead();
      resolve(false);
      if (release === null) return undefined;
      release = null;
      return handler.deposed();
    });
    return promise;
  }

  function stopWaiting(): void {
    waiting?.abort();
    waiting = null;
  }

  return {
    leads: () => release !== null,

    /** Leads if nobody does, else waits to be next. Answers whether this tab leads. */
    async join(): Promise<boolean> {
      if (release !== null) return true;
      if (waiting === null && (await request({ ifAvailable: true }))) return true;
      if (waiting === null && release === null) {
        waiting = new AbortController();
        void request({ signal: waiting.signal });
      }
      return release !== null;
    },

    /** The one that leads does not answer. */
    steal(): void {
      stopWaiting();
      void request({ steal: true });
    },

    leave(): void {
      stopWaiting();
      const end = release;
      release = null;
      end?.();
    },
  };
}
