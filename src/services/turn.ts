import type { Clock } from '../ports.ts';

/**
 * To be awaited between the pieces of long work. Embedded stores answer without ever leaving the thread: a loop of awaits over them would
 * keep every socket waiting until its end.
 */
export function turn(clock: Pick<Clock, 'soon'>): Promise<void> {
  return new Promise((resolve) => clock.soon(resolve));
}
