import type { Clock } from '../../src/ports.ts';
import { systemClock } from '../../src/system.ts';

/** Real time that passes so many times more slowly: patience that is measured by it is not used up because a machine is busy. */
export function slowClock(times: number): Clock {
  const startMs = systemClock.nowMs();
  const startSteadyMs = systemClock.steadyMs();
  return {
    ...systemClock,
    nowMs: () => Math.floor(startMs + (systemClock.nowMs() - startMs) / times),
    steadyMs: () => startSteadyMs + (systemClock.steadyMs() - startSteadyMs) / times,
    after: (delayMs, run) => systemClock.after(delayMs * times, run),
  };
}
