// Runs the checks whenever something has moved and it has become quiet.
import type { Standing } from '../demo-api.ts';
import { compare, type Verdict } from './checks.ts';
import { demoServer, Unreachable } from './demo-server.ts';
import type { Device } from './device.ts';

export interface Tally {
  readonly checks: number;
  readonly wrong: number;
  readonly level: number;
  readonly of: number;
}

export interface CheckerEvents {
  tally(tally: Tally): void;
  standing(standing: Standing): void;
  wrong(what: string): void;
  fault(error: unknown): void;
}

const QUIET_MS = 60;
/** While it never becomes quiet. */
const PATIENCE_MS = 500;
/** Devices that have not caught up are looked at again. */
const AGAIN_MS = 400;
/** And all of them now and then, though nothing moves. */
const IDLE_MS = 2000;

export function startChecker(devices: readonly Device[], events: CheckerEvents): void {
  let checks = 0;
  let wrong = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let movedAtMs: number | null = null;
  let isRunning = false;

  function moved(): void {
    const nowMs = performance.now();
    movedAtMs ??= nowMs;
    if (isRunning) return;
    schedule(Math.min(QUIET_MS, Math.max(0, movedAtMs + PATIENCE_MS - nowMs)));
  }

  function schedule(delayMs: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => void run(), delayMs);
  }

  async function run(): Promise<void> {
    movedAtMs = null;
    // With nobody there is nothing to compare, and while the server restarts nobody to ask.
    if (live().length === 0) return;
    isRunning = true;
    let againMs = IDLE_MS;
    try {
      const standing = await demoServer.standing();
      const verdict = compare(devices, standing);
      count(verdict);
      events.standing(standing);
      if (verdict.level < live().length) againMs = AGAIN_MS;
    } catch (error) {
      if (!(error instanceof Unreachable)) events.fault(error);
    }
    isRunning = false;
    // Also after a check that failed: perhaps nothing moves any more that would ask for the next one.
    schedule(againMs);
    if (movedAtMs !== null) moved();
  }

  const live = () => devices.filter(({ client }) => client.state === 'live');

  function count(verdict: Verdict): void {
    checks += verdict.checks;
    wrong += verdict.wrong.length;
    for (const what of verdict.wrong) events.wrong(what);
    events.tally({ checks, wrong, level: verdict.level, of: devices.length });
  }

  for (const device of devices) {
    device.onMove(moved);
    device.client.on('state', moved);
  }
}
