import { RETRY_MS_MAX } from '../limits.ts';
import type { ClientClock } from '../ports.ts';

/**
 * A tab whose socket was lost comes back itself, and until then it does not give way to another one. A timer and no time of the
 * clock, which may be set back by an hour.
 */
export function createStay(clock: ClientClock) {
  let cancel: (() => void) | null = null;

  function end(): void {
    cancel?.();
    cancel = null;
  }

  return {
    holds: () => cancel !== null,
    set(isOn: boolean): void {
      end();
      if (isOn) cancel = clock.after(RETRY_MS_MAX, end);
    },
  };
}
