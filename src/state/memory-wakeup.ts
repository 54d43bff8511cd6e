import type { Wakeup, WakeupListener } from '../ports.ts';

/** The wake-up of a single process: what is published is handed to every listener at once, in the order of publishing. */
export function createMemoryWakeup(): Wakeup {
  const listeners = new Set<WakeupListener>();
  return {
    async publishChanges(changes) {
      if (changes.length > 0) for (const listener of listeners) listener.changes(changes);
    },
    async publishLarge(notices) {
      if (notices.length > 0) for (const listener of listeners) listener.large(notices);
    },
    async publishDisconnect(user, device) {
      for (const listener of listeners) listener.disconnect(user, device);
    },
    async publishOpened(connections) {
      for (const listener of listeners) listener.opened?.(connections);
    },
    subscribe(listener) {
      listeners.add(listener);
    },
    async close() {
      listeners.clear();
    },
  };
}
