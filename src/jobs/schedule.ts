import type { Clock } from '../ports.ts';

export interface Job {
  start(): void;
  /** Resolves when the run that is under way, if any, has ended; none follows. */
  stop(): Promise<void>;
}

export interface ScheduleOptions {
  readonly clock: Clock;
  readonly intervalMs: number;
  readonly run: () => Promise<void>;
  /** Told of a failed run; the next one comes as planned. */
  readonly onError: (error: unknown) => void;
}

/** Runs again and again, `intervalMs` after the end of the run before: never twice at once, however long one takes. */
export function schedule({ clock, intervalMs, run, onError }: ScheduleOptions): Job {
  let cancel: (() => void) | null = null;
  let running: Promise<void> = Promise.resolve();
  let isStopped = false;

  function wait(): void {
    cancel = clock.after(intervalMs, () => {
      running = run()
        .catch(onError)
        .finally(() => {
          if (!isStopped) wait();
        });
    });
  }

  return {
    start: wait,
    async stop() {
      isStopped = true;
      cancel?.();
      await running;
    },
  };
}
