import type { Wakeup, WakeupListener } from '../ports.ts';

export interface MemoryWakeup extends Wakeup {
  /** Whether some listener cares for changes of the user now. */
  holds(user: string): boolean;
}

/** The wake-up of a single process: what is published is handed to every listener at once, in the order of publishing. */
export function createMemoryWakeup(): MemoryWakeup {
  const listeners = new Set<WakeupListener>();
  return {
    async publishChanges(changes) {
      if (changes.length > 0) for (const listener of listeners) listener.changes(changes);
    },
    async publishLarge(notices) {
      if (notices.length > 0) for (const listener of listeners) listener.large(notices);
    },
    async publishMissing(users) {
      for (const listener of listeners) listener.missed?.(users);
    },
    async publishDisconnect(user, device) {
      for (const listener of listeners) listener.disconnect(user, device);
    },
    async publishOpened(connections) {
      for (const listener of listeners) listener.opened?.(connections);
    },
    async rollCall(user) {
      const devices = [...listeners].flatMap((listener) => listener.devicesOf?.(user) ?? []);
      return { devices, nodes: { asked: 1, answered: 1 } };
    },
    holds(user) {
      for (const listener of listeners) if (listener.holds?.(user) === true) return true;
      return false;
    },
    subscribe(listener) {
      listeners.add(listener);
    },
    async close() {
      listeners.clear();
    },
  };
}
