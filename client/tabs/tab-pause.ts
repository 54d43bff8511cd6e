// A page that is frozen or put aside runs nothing, and must not hold what others wait for.

export type Pause = ReturnType<typeof createPause>;

export function createPause(begins: () => void) {
  let paused: PromiseWithResolvers<void> | null = null;
  const { document, window } = globalThis as { document?: Document; window?: Window };

  function begin(): void {
    if (paused !== null) return;
    paused = Promise.withResolvers();
    begins();
  }

  function end(): void {
    paused?.resolve();
    paused = null;
  }

  const visible = () => document?.visibilityState === 'visible' && end();
  const heard: [EventTarget | undefined, string, () => void][] = [
    [document, 'freeze', begin],
    [document, 'resume', end],
    [document, 'visibilitychange', visible],
    [window, 'pagehide', begin],
    [window, 'pageshow', end],
  ];
  for (const [target, name, listener] of heard) target?.addEventListener(name, listener);

  return {
    /** Resolves when the page runs. */
    over: async (): Promise<void> => paused?.promise,

    stop(): void {
      for (const [target, name, listener] of heard) target?.removeEventListener(name, listener);
    },
  };
}
