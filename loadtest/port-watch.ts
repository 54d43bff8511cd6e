import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves when something listens on the port of this machine; rejects when nothing does in time, or when `gone` says so. */
export async function listening(port: number, timeoutMs: number, gone: () => string | null): Promise<void> {
  const untilMs = performance.now() + timeoutMs;
  for (;;) {
    const reason = gone() ?? (performance.now() > untilMs ? `nothing listens on port ${port}` : null);
    if (reason !== null) throw new Error(reason);
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return;
    } catch {
      await sleep(20);
    } finally {
      socket.destroy();
    }
  }
}
