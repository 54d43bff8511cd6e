// When the next session is opened, and with which token.
import { createBackoff } from './backoff.ts';
import type { SocketEnd } from './backoff.ts';
import type { ClientClock, ClientRandom } from './ports.ts';
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
  let fetching = false;
  let waiting: { cancel: () => void; dueAt: number; bySchedule: boolean } | null = null;

  function cancel(): void {
    turn++;
    fetching = false;
    waiting?.cancel();
    waiting = null;
    tokens.stopRefreshing();
  }

  function after(delayMs: number, bySchedule = false): void {
    cancel();
    waiting = { cancel: clock.after(delayMs, now), dueAt: clock.nowMs() + delayMs, bySchedule };
  }

  function now(): void {
    cancel();
    fetching = true;
    const mine = turn;
    const settle = (then: () => void) => {
      if (mine !== turn) return;
      fetching = false;
      then();
    };
    const refused = (error: unknown) => {
      handler.failed(error);
      after(backoff.nextMs());
    };
    void tokens.forConnection().then(
      (token) => settle(() => handler.open(token)),
      (error: unknown) => settle(() => refused(error)),
    );
  }

  return {
    now,
    after,
    cancel,
    steady: () => backoff.reset(),
    tokenLasts: (expiresAtMs: number) => tokens.lasts(expiresAtMs),

    /** Whether a session will be opened, sooner or later. */
    busy: () => fetching || waiting !== null,

    /** At most a moment from now. A time that the server chose is kept: it spreads the clients of a node that goes down. */
    sooner(): void {
      const delayMs = random() * RETURN_SPREAD_MS;
      if (waiting !== null && !waiting.bySchedule && clock.nowMs() + delayMs < waiting.dueAt) after(delayMs);
    },

    /** Comes back as the end of the last session says, not before `minMs`; false: not at all. */
    afterEnd(end: SocketEnd, minMs: number): boolean {
      const next = backoff.afterEnd(end);
      if (next === null || (next.newToken && !tokens.refused())) return false;
      after(Math.max(minMs, next.delayMs), next.bySchedule);
      return true;
    },

    /** Whatever was refused before, a new login may be taken. */
    startAfresh(): void {
      backoff.reset();
      tokens.forget();
    },

    close(): void {
      cancel();
      tokens.close();
    },
  };
}
