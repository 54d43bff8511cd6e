// When the next session is opened, and with which token.
import { reconnectAdvice } from '../protocol/close-codes.ts';
import { createBackoff } from './backoff.ts';
import type { ClientClock, ClientRandom } from './ports.ts';
import type { SocketEnd } from './session.ts';
import type { TidemarkError } from './tidemark-error.ts';
import { createTokenSource } from './token-source.ts';
import type { GetToken, TokenUse } from './token-source.ts';

export interface DialerOptions {
  getToken: GetToken;
  clock: ClientClock;
  random: ClientRandom;
}

export interface DialerHandler extends TokenUse {
  /** Null: there is nobody to connect for. */
  open(token: string | null): void;
}

/** After the app or the network came back, so that not all devices come in the same moment. */
const RETURN_SPREAD_MS = 1_000;

export function createDialer({ getToken, clock, random }: DialerOptions, handler: DialerHandler) {
  const backoff = createBackoff(random);
  const tokens = createTokenSource(getToken, clock, random, handler);
  /** Rises whenever a token that is being fetched is no longer wanted. */
  let turn = 0;
  let waiting: { cancel: () => void; bySchedule: boolean } | null = null;

  function cancel(): void {
    turn++;
    waiting?.cancel();
    waiting = null;
    tokens.stop();
  }

  function after(delayMs: number, bySchedule = false): void {
    cancel();
    waiting = { cancel: clock.after(delayMs, now), bySchedule };
  }

  function now(): void {
    cancel();
    const mine = turn;
    void tokens.forConnection().then(
      (token) => mine === turn && handler.open(token),
      (error: unknown) => {
        if (mine !== turn) return;
        handler.fault(error as TidemarkError);
        after(backoff.nextMs());
      },
    );
  }

  return {
    now,
    after,
    cancel,
    steady: () => backoff.reset(),
    lasts: (expiresAtMs: number) => tokens.lasts(expiresAtMs),

    /** In a moment, if it waits. A time that the server chose is kept: it spreads the clients of a node that goes down. */
    sooner(): void {
      if (waiting?.bySchedule === false) after(random() * RETURN_SPREAD_MS);
    },

    /**
     * Comes back as the end of the last session says, not before `minMs`; false: not at all. The server's own `retry_ms` comes
     * first (it spreads the clients), then the close code, then jitter.
     */
    afterEnd({ code, retryMs }: SocketEnd, minMs: number): boolean {
      const advice = reconnectAdvice(code);
      if (advice === 'never' || (advice === 'new_token' && !tokens.refused())) return false;
      const delayMs = backoff.nextMs(advice !== 'backoff');
      after(Math.max(minMs, retryMs ?? delayMs), retryMs !== undefined);
      return true;
    },

    /** Whatever was refused before, a new login may be taken. */
    forget(): void {
      backoff.reset();
      tokens.forget();
    },

    close(): void {
      cancel();
      tokens.close();
    },
  };
}
