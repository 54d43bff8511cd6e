// Listeners by conversation: one change of one conversation calls those of that one, however many components there are.
import type { TidemarkClient } from '../client.ts';

type Listeners = Map<string, Set<() => void>>;

const listenersOf = new WeakMap<TidemarkClient, Listeners>();

/** Answers how to stop. */
export function listenTo(client: TidemarkClient, conv: string, listener: () => void): () => void {
  const listeners = listenersOf.get(client) ?? listening(client);
  const those = listeners.get(conv) ?? new Set();
  listeners.set(conv, those);
  those.add(listener);
  return () => {
    those.delete(listener);
    if (those.size === 0 && listeners.get(conv) === those) listeners.delete(conv);
  };
}

function listening(client: TidemarkClient): Listeners {
  const listeners: Listeners = new Map();
  listenersOf.set(client, listeners);
  client.on('change', ({ conv }) => {
    for (const listener of listeners.get(conv) ?? []) listener();
  });
  return listeners;
}
