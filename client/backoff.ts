// Full jitter: random pauses below a ceiling that doubles, so that many clients that were cut at once do not come back at once.
import { RETRY_MS_MAX, RETRY_MS_MIN } from './limits.ts';
import type { ClientRandom } from './ports.ts';

export function createBackoff(random: ClientRandom) {
  let failures = 0;

  return {
    /**
     * Between 0.5 s and a ceiling that grows from 1 s to 30 s. `atOnce`: 0 the first time, and only then: a server that sends
     * everybody away again and again must not be hammered.
     */
    nextMs(atOnce = false): number {
      const ceilingMs = Math.min(RETRY_MS_MAX, 2 * RETRY_MS_MIN * 2 ** failures++);
      return atOnce && failures === 1 ? 0 : RETRY_MS_MIN + random() * (ceilingMs - RETRY_MS_MIN);
    },

    /** Only a state that was verified and held for a while ends a row of failures: a socket that opens proves nothing. */
    reset(): void {
      failures = 0;
    },
  };
}
