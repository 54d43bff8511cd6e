import { codeOf, Unavailable } from './errors.ts';
import { type Log, logError } from './log.ts';
import type { Clock } from './ports.ts';

export interface BackgroundFaultsDeps {
  readonly log: Log;
  readonly clock: Pick<Clock, 'steadyMs'>;
}

/** A store that is away fails whatever tries it, several times a second: one line says it, and one a minute that it goes on. */
const SAID_AGAIN_MS = 60_000;
/** Reasons that are told apart; they name addresses, of which a cluster has a few. */
const REASONS_MAX = 100;

/** Logs the failures of work that no caller waits for; of one outage once a minute, with how many there were in between. */
export function createBackgroundFaults({ log, clock }: BackgroundFaultsDeps): (error: unknown) => void {
  const said = new Map<string, { atMs: number; since: number }>();
  return (error) => {
    if (!(error instanceof Unavailable)) {
      logError(log, error, 'work in the background failed');
      return;
    }
    const reason = error.message;
    const last = said.get(reason);
    const nowMs = clock.steadyMs();
    if (last !== undefined && nowMs - last.atMs < SAID_AGAIN_MS) {
      last.since++;
      return;
    }
    if (said.size >= REASONS_MAX) said.clear();
    said.set(reason, { atMs: nowMs, since: 0 });
    log.warn({ code: codeOf(error), reason, failedSince: last?.since ?? 0 }, 'a store is away');
  };
}
