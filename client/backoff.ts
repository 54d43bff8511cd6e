// When to come back after a socket was lost (CONTRACT §6, close codes).
import { reconnectAdvice } from '../protocol/close-codes.ts';
import { RETRY_MS_MAX, RETRY_MS_MIN } from './limits.ts';
import type { ClientRandom } from './ports.ts';

/** How a socket ended: the close code, and what a `bye` before it said. */
export interface SocketEnd {
  code: number;
  reason: string;
  retryMs?: number | undefined;
}

/** `bySchedule`: the server chose the moment. */
export type Return = { delayMs: number; newToken: boolean; bySchedule: boolean };

export function createBackoff(random: ClientRandom) {
  let failures = 0;

  /** Full jitter between 0.5 s and a ceiling that doubles from 1 s to 30 s. */
  function nextMs(): number {
    const ceilingMs = Math.min(RETRY_MS_MAX, 2 * RETRY_MS_MIN * 2 ** failures);
    failures++;
    return RETRY_MS_MIN + random() * (ceilingMs - RETRY_MS_MIN);
  }

  /**
   * Null: not at all. The server's own `retry_ms` comes first (it spreads the clients), then the close code, then jitter.
   * "At once" is for the first time only: a server that sends everybody away again and again must not be hammered.
   */
  function afterEnd(end: SocketEnd): Return | null {
    const advice = reconnectAdvice(end.code);
    if (advice === 'never') return null;
    const atOnce = failures === 0 && advice !== 'backoff';
    const jitterMs = nextMs();
    return {
      delayMs: end.retryMs ?? (atOnce ? 0 : jitterMs),
      newToken: advice === 'new_token',
      bySchedule: end.retryMs !== undefined,
    };
  }

  return {
    nextMs,
    afterEnd,
    /** Only a state that was verified and held for a while ends a row of failures: a socket that opens proves nothing. */
    reset(): void {
      failures = 0;
    },
  };
}
