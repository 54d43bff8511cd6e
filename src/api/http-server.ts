import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../ports.ts';

/** The listening socket: HTTP requests go to the listener, upgrades to whoever listens for them on `server`. */
export interface HttpServer {
  readonly server: Server;
  /** Answers the URL to reach it at. Rejects when the address cannot be had. */
  listen(host: string, port: number): Promise<string>;
  /** From now on each answer closes its connection, those to requests under way too: one kept alive would keep the server alive. */
  endKeepAlive(): void;
  /** Takes no more connections, closes the idle ones and waits for the rest; cuts those that take too long. */
  close(): Promise<void>;
  /** Cuts every connection. */
  cut(): void;
}

/** Connections that the system may hold for us while we are busy: a storm of reconnects must not end in resent SYNs. */
const LISTEN_BACKLOG = 4096;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;
/** Above the 60 s after which common proxies give up an idle connection, so that it is they who close it. */
const KEEP_ALIVE_MS = 75_000;
/** Requests that are still being answered when the server stops get so long. */
const LAST_REQUESTS_MS = 10_000;

export function createHttpServer(listener: RequestListener, clock: Clock): HttpServer {
  let isEnding = false;
  const unanswered = new Set<ServerResponse>();
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      shouldUpgradeCallback: wantsWebSocket,
    },
    (request, response) => {
      unanswered.add(response);
      response.once('close', () => unanswered.delete(response));
      if (isEnding) response.setHeader('connection', 'close');
      listener(request, response);
    },
  );
  return {
    server,
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen({ host, port, backlog: LISTEN_BACKLOG }, () => {
          server.off('error', reject);
          resolve(urlOf(host, (server.address() as AddressInfo).port));
        });
      }),
    endKeepAlive() {
      isEnding = true;
      for (const response of unanswered) if (!response.headersSent) response.setHeader('connection', 'close');
    },
    close: () =>
      new Promise((resolve) => {
        const cancel = clock.after(LAST_REQUESTS_MS, () => server.closeAllConnections());
        server.close(() => {
          cancel();
          resolve();
        });
      }),
    cut: () => server.closeAllConnections(),
  };
}

/** RFC 9110 §7.8: any other offer is passed over, or clients that always offer h2c (Java's for one) would never get an answer. */
function wantsWebSocket({ headers }: IncomingMessage): boolean {
  const offered = headers.upgrade?.split(',') ?? [];
  return offered.some((protocol) => protocol.trim().toLowerCase() === 'websocket');
}

/** An address to listen on everywhere is none to connect to. */
function urlOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
