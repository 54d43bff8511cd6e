import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface TcpProxy {
  readonly port: number;
  /** Where new connections are led to: changed as an address is that moves to another server. */
  targetPort: number;
  /** Bytes take so long in each direction, from now on. */
  delayMs: number;
  /** Takes connections and bytes, and passes none on, until it is set back. */
  isStalled: boolean;
  /** What the server says and this holds for is dropped, and the connection stays. */
  swallows: (answer: Buffer) => boolean;
  /** Connections that are open through it. */
  readonly connections: number;
  /** Connections that were ever taken. */
  readonly accepted: number;
  /** How many requests matched `loseAnswerTo`. */
  readonly lost: number;
  /** The next request that matches is passed on whole; what the server answers is not, and the connection is cut. */
  loseAnswerTo(isMeant: (request: Buffer) => boolean): void;
  /** Cuts all connections without a goodbye. */
  cut(): void;
  close(): Promise<void>;
}

/** A link to a port of 127.0.0.1 that a test can make slow, silent or broken. */
export async function openTcpProxy(targetPort: number): Promise<TcpProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let isMeant: ((request: Buffer) => boolean) | null = null;
  let lost = 0;
  let accepted = 0;
  let stalled = { is: false, ended: Promise.withResolvers<void>() };

  const server = createServer((client) => {
    accepted++;
    const target = connect(proxy.targetPort, '127.0.0.1');
    const pair = [client, target] as const;
    pairs.add(pair);
    const state = { losesAnswer: false };
    const end = (): void => {
      pairs.delete(pair);
      client.destroy();
      target.destroy();
    };
    for (const socket of pair) socket.setNoDelay(true).on('error', end).on('close', end);
    forward(client, target, (bytes) => {
      if (isMeant?.(bytes) === true) {
        isMeant = null;
        lost++;
        state.losesAnswer = true;
      }
      return true;
    });
    forward(target, client, (bytes) => {
      if (state.losesAnswer) end();
      return !state.losesAnswer && !proxy.swallows(bytes);
    });
  });

  /** In the order of arrival, one after the other. */
  function forward(from: Socket, to: Socket, isPassed: (bytes: Buffer) => boolean): void {
    let tail = Promise.resolve();
    from.on('data', (bytes) => {
      const dueMs = performance.now() + proxy.delayMs;
      tail = tail.then(async () => {
        const waitMs = dueMs - performance.now();
        if (waitMs > 0) await sleep(waitMs);
        if (stalled.is) await stalled.ended.promise;
        if (!to.destroyed && isPassed(bytes)) to.write(bytes);
      });
    });
  }

  const proxy: TcpProxy = {
    targetPort,
    delayMs: 0,
    swallows: () => false,
    get port() {
      return (server.address() as AddressInfo).port;
    },
    get isStalled() {
      return stalled.is;
    },
    set isStalled(is) {
      if (!is) stalled.ended.resolve();
      stalled = { is, ended: Promise.withResolvers() };
    },
    get connections() {
      return pairs.size;
    },
    get accepted() {
      return accepted;
    },
    get lost() {
      return lost;
    },
    loseAnswerTo(next) {
      isMeant = next;
    },
    cut() {
      for (const pair of pairs) for (const socket of pair) socket.destroy();
    },
    async close() {
      stalled.ended.resolve();
      proxy.cut();
      server.close();
      await once(server, 'close');
    },
  };
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return proxy;
}
