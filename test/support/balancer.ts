import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Balancer {
  readonly url: string;
  close(): Promise<void>;
}

/** One address for several nodes: connections go to them in turn, as they do behind a balancer that knows nothing of users. */
export async function openBalancer(urls: readonly string[]): Promise<Balancer> {
  const ports = urls.map((url) => Number(new URL(url).port));
  const sockets = new Set<Socket>();
  let next = 0;
  const server = createServer((client) => {
    const node = connect(ports[next++ % ports.length] as number, '127.0.0.1');
    const end = (): void => {
      // What was said last still arrives.
      client.destroySoon();
      node.destroySoon();
    };
    for (const socket of [client, node]) {
      sockets.add(socket);
      socket
        .setNoDelay(true)
        .on('error', end)
        .on('close', () => {
          sockets.delete(socket);
          end();
        });
    }
    client.pipe(node);
    node.pipe(client);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
