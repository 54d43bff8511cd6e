// One user who is being looked at: asked for again and again, and at once when a change is heard of.
import type { InspectAnswer, WatchedChange } from '../../protocol/http.ts';
import { type InspectorApi, KeyRefused } from './inspector-api.ts';

export interface LookedAt {
  readonly user: string;
  /** Now, and not at the next time. */
  look(): Promise<void>;
  end(): void;
}

export interface LookEvents {
  answer(answer: InspectAnswer): void;
  change(change: WatchedChange): void;
  /** Whether changes are heard as they happen. */
  live(isLive: boolean): void;
  failed(error: unknown): void;
}

/** While the page is to be seen. */
const LOOK_EVERY_MS = 2000;
/** Changes that come together are one look; a user of whom changes never end is looked at so often, too. */
const SOON_MS = 150;
const WATCH_AGAIN_MS = 3000;

export function lookAt(user: string, api: InspectorApi, events: LookEvents): LookedAt {
  const ending = new AbortController();
  const { signal } = ending;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isSoon = false;
  let isLooking = false;
  let mustLookAgain = false;

  function lookIn(delayMs: number): void {
    clearTimeout(timer);
    isSoon = delayMs <= SOON_MS;
    if (!signal.aborted) timer = setTimeout(() => void look(), delayMs);
  }

  /** One question at a time; what changes while it is under way is asked for after it. */
  async function look(): Promise<void> {
    clearTimeout(timer);
    isSoon = false;
    if (isLooking) {
      mustLookAgain = true;
      return;
    }
    isLooking = true;
    try {
      do {
        mustLookAgain = false;
        const answer = await api.inspect(user, signal);
        if (!signal.aborted) events.answer(answer);
      } while (mustLookAgain);
    } catch (error) {
      if (!signal.aborted) events.failed(error);
    }
    isLooking = false;
    if (!isSoon) lookIn(LOOK_EVERY_MS);
  }

  async function watch(): Promise<void> {
    while (!signal.aborted) {
      try {
        await api.watch(user, { opened: () => events.live(true), changed }, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof KeyRefused) return events.failed(error);
      }
      if (signal.aborted) return;
      events.live(false);
      await new Promise((resolve) => {
        setTimeout(resolve, WATCH_AGAIN_MS);
      });
    }
  }

  function changed(change: WatchedChange): void {
    events.change(change);
    if (!isSoon) lookIn(SOON_MS);
  }

  function visible(): void {
    if (document.visibilityState === 'visible') lookIn(0);
    else clearTimeout(timer);
  }

  document.addEventListener('visibilitychange', visible, { signal });
  void look();
  void watch();
  return {
    user,
    look,
    end() {
      clearTimeout(timer);
      ending.abort();
    },
  };
}
