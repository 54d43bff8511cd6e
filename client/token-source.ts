// Where tokens come from: the app's callback, asked by one at a time, and again before the token in use has expired.
import type { ClientClock, ClientRandom } from './ports.ts';
import { TidemarkError } from './tidemark-error.ts';

/** `connect`: none is held; `refresh`: the held one will expire soon; `expired`: the held one is over or was refused. */
export type TokenReason = 'connect' | 'refresh' | 'expired';
/** Answers a JWT, or null when there is nobody to connect for: then the client stops. An error is tried again. */
export type GetToken = (request: { reason: TokenReason }) => string | null | Promise<string | null>;

export interface TokenUse {
  /** There is a newer token, for the socket that stands. */
  renewed(token: string): void;
  fault(error: TidemarkError): void;
}

/** A callback that never answers must not keep the client from trying again. */
const ANSWER_MS_MAX = 30_000;
/** New tokens refused so often in a row mean that none will be taken. */
const REFUSED_MAX = 2;
/** A token is renewed when this part of its life is over, give or take 10 %, so that clients do not come all at once. */
const REFRESH_AT = 0.8;
const REFRESH_SPREAD = 0.2;
/**
 * Between two refreshes at least, growing while they fail, and while every new token looks old, as it does to a clock that runs
 * ahead of the server's.
 */
const PAUSE_MS_MIN = 1_000;
const PAUSE_MS_MAX = 600_000;

export function createTokenSource(getToken: GetToken, clock: ClientClock, random: ClientRandom, use: TokenUse) {
  let held: string | null = null;
  let expiresAt = Infinity;
  /** The token in use was fetched for this connection, and no server has taken it yet. */
  let untried = false;
  let refusals = 0;
  let asking: Promise<string | null> | null = null;
  let pauseMs = PAUSE_MS_MIN;
  let cancelRefresh = () => {};
  let cancelAnswer = () => {};

  /** Single flight: whoever asks while a question is open gets its answer. */
  async function ask(reason: TokenReason): Promise<string | null> {
    asking ??= answer(reason).finally(() => {
      cancelAnswer();
      asking = null;
    });
    return asking;
  }

  async function answer(reason: TokenReason): Promise<string | null> {
    const late = new Promise<never>((_, reject) => {
      cancelAnswer = clock.after(ANSWER_MS_MAX, () => reject(new Error('getToken is late')));
    });
    try {
      held = await Promise.race([getToken({ reason }), late]);
    } catch (cause) {
      throw new TidemarkError('token', 'no token', { cause });
    }
    expiresAt = Infinity;
    return held;
  }

  function refreshAfter(delayMs: number): void {
    cancelRefresh();
    const cancel = clock.after(delayMs, () => {
      void ask('refresh').then(
        (token) => {
          if (cancelRefresh !== cancel) return;
          if (token !== null) use.renewed(token);
        },
        (error: unknown) => {
          if (cancelRefresh !== cancel) return;
          use.fault(error as TidemarkError);
          refreshAfter(nextPauseMs());
        },
      );
    });
    cancelRefresh = cancel;
  }

  function nextPauseMs(): number {
    pauseMs = Math.min(PAUSE_MS_MAX, pauseMs * 2);
    return pauseMs;
  }

  function stop(): void {
    cancelRefresh();
    cancelRefresh = () => {};
  }

  return {
    /** The held token while it lasts, else a new one. Reconnecting must not become a storm on the app's token endpoint. */
    async forConnection(): Promise<string | null> {
      untried = held === null || clock.nowMs() >= expiresAt;
      if (!untried) return held;
      return ask(held === null ? 'connect' : 'expired');
    },

    /** The server does not take the held token (any more); false: nor would it take another. */
    refused(): boolean {
      expiresAt = 0;
      if (untried) refusals++;
      return refusals < REFUSED_MAX;
    },

    /** The next connection may be another user's. */
    forget(): void {
      held = null;
      refusals = 0;
    },

    /** The server said until when the token in use is good: the next one is fetched before that, while a socket stands. */
    lasts(expiresAtMs: number): void {
      expiresAt = expiresAtMs;
      untried = false;
      refusals = 0;
      const wantedMs = (expiresAtMs - clock.nowMs()) * REFRESH_AT * (1 + REFRESH_SPREAD * (random() - 0.5));
      if (wantedMs > pauseMs) pauseMs = PAUSE_MS_MIN;
      refreshAfter(Math.max(wantedMs, nextPauseMs()));
    },

    stop,

    close(): void {
      stop();
      cancelAnswer();
    },
  };
}
