import type { Metrics } from '../metrics.ts';
import type { Clock, Random } from '../ports.ts';
import type { Session } from './session.ts';

export interface DrainDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: Metrics;
  readonly sessions: ReadonlySet<Session>;
}

/** Commands received before the drain get so long to be answered; those that are not are sent again by their clients. */
const ANSWERS_MAX_MS = 2000;
/** Sockets told to go at a time: the rest of the process goes on in between. */
const SLICE_SOCKETS = 500;
const POLL_MS = 20;

/**
 * ARCHITECTURE, flows: every socket is told to come back at a time of its own, evenly spread over the window, so that the nodes that are left
 * never see more than their share at once. Resolves when all sockets are closed, or `closeTimeoutMs` after the last was told to.
 */
export async function drain(deps: DrainDeps, windowMs: number, closeTimeoutMs: number): Promise<void> {
  const { clock, random, metrics, sessions } = deps;
  const leaving = [...sessions];
  const untilMs = clock.steadyMs() + ANSWERS_MAX_MS;
  const shift = random.fraction();
  for (const [i, session] of leaving.entries()) {
    if (i > 0 && i % SLICE_SOCKETS === 0) await wait(clock, 0);
    session.leave(Math.floor(((i + shift) / leaving.length) * windowMs), untilMs);
  }
  const giveUpMs = untilMs + closeTimeoutMs;
  while (sessions.size > 0 && clock.steadyMs() < giveUpMs) {
    metrics.drainRemaining(sessions.size);
    await wait(clock, POLL_MS);
  }
  metrics.drainRemaining(sessions.size);
}

function wait(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => clock.after(delayMs, resolve));
}
