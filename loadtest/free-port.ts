import { once } from 'node:events';
import { createServer } from 'node:net';

const PORT_MIN = 16_384;
const PORT_MAX = 32_767;
let next = PORT_MIN + Math.floor(Math.random() * (PORT_MAX - PORT_MIN));

/**
 * A free port below those that systems give to outgoing connections: while the server is down, a device that dials a port of that
 * range can be given the very same one, which connects it to itself and keeps the server from coming back. Each is given to one caller
 * of this process: many ask at once, and it is a while until their servers listen.
 */
export async function freePort(): Promise<string> {
  for (;;) {
    const port = next;
    next = port < PORT_MAX ? port + 1 : PORT_MIN;
    const server = createServer();
    try {
      await once(server.listen(port, '127.0.0.1'), 'listening');
      return String(port);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    } finally {
      server.close();
    }
  }
}
