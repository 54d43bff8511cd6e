// What a browser says about attention and network. In Node there is nothing to hear: call `sync()`.

export interface ForegroundHandler {
  /** The app is looked at again, or the machine woke up. */
  foreground(): void;
  /** The page may be gone in a moment. */
  leaving(): void;
  online(): void;
  offline(): void;
}

/** Begins to listen; answers how to stop. */
export type Foreground = (handler: ForegroundHandler) => () => void;

export const browserForeground: Foreground = (handler) => {
  const { document, window } = globalThis as { document?: Document; window?: Window };
  if (document === undefined || window === undefined) return () => {};
  const heard: [EventTarget, string, (event: Event) => void][] = [
    [document, 'visibilitychange', () => document.visibilityState === 'visible' && handler.foreground()],
    // It was frozen, and its socket may be gone.
    [document, 'resume', () => handler.online()],
    // Out of the back-forward cache: sockets are gone, timers stood still.
    [window, 'pageshow', (event) => (event as PageTransitionEvent).persisted && handler.foreground()],
    [window, 'pagehide', () => handler.leaving()],
    [window, 'online', () => handler.online()],
    [window, 'offline', () => handler.offline()],
  ];
  for (const [target, name, listener] of heard) target.addEventListener(name, listener);
  return () => {
    for (const [target, name, listener] of heard) target.removeEventListener(name, listener);
  };
};
