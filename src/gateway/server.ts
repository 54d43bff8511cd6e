import { STATUS_CODES } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ServerOptions, WebSocketServer } from 'ws';
import { closeCodes, limits } from '../../protocol/index.ts';
import type { CloseCode } from '../../protocol/index.ts';
import type { WakeupListener } from '../ports.ts';
import { ConnectionLimits } from './connection-limits.ts';
import type { GatewayDeps } from './deps.ts';
import { drain } from './drain.ts';
import { messageFrame } from './frame-bytes.ts';
import { FrameRate } from './frame-rate.ts';
import { GatewaySocket } from './gateway-socket.ts';
import { Heartbeat } from './heartbeat.ts';
import { Registry } from './registry.ts';
import { Session } from './session.ts';
import type { NetStream, SessionDeps } from './session.ts';
import { StateWatch } from './state-watch.ts';

export interface Gateway {
  /** For the `upgrade` event of a Node HTTP server. */
  handleUpgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void;
  /** To be subscribed to the wake-up. */
  readonly listener: WakeupListener;
  /** Open sockets. */
  readonly connections: number;
  /** Takes no new sockets and sends the others away, each to come back at its own time within the window. */
  drain(windowMs: number): Promise<void>;
  /** Cuts what is left. */
  close(): void;
}

const PATH = '/v1/ws';
/** A client of another version of this protocol can only be told so if one of its own subprotocols is accepted for that. */
const SUBPROTOCOL_FAMILY = 'tidemark.';
/** Parts of one message, and of one chunk of the network: a peer must not spend memory without spending bytes. */
const FRAGMENTS_MAX = 64;
const CHUNKS_MAX = 256;
/** Deadlines are kept to within one turn of the wheel. */
const TURN_MS_MAX = 1000;
const TURNS_PER_DEADLINE = 8;
const RETRY_AFTER_SECONDS = 5;
const NODE_NAME_LENGTH = 8;

/** `closeTimeout` is an option of ws 8.23 that its types do not know. */
type LeanOptions = ServerOptions<typeof GatewaySocket> & { readonly closeTimeout: number };

/** WebSocket sessions on `GET /v1/ws` (SPEC §7). */
export function createGateway(deps: GatewayDeps): Gateway {
  const { services, clock, metrics, log, settings } = deps;
  const codecs = new Map(deps.codecs.map((codec) => [codec.subprotocol as string, codec]));
  const turnMs = Math.min(TURN_MS_MAX, Math.min(settings.heartbeatMs, settings.helloTimeoutMs) / TURNS_PER_DEADLINE);
  const heartbeat = new Heartbeat(clock, turnMs);
  const registry = new Registry({
    ...deps,
    fanOut: services.fanOut,
    sessionsPerUserMax: settings.connectionsPerUserMax,
    onMissed: (users) => watch.missed(users),
  });
  const watch = new StateWatch({ registry, sync: services.sync, clock, log, roundMs: settings.heartbeatMs });
  const connections = new ConnectionLimits(settings.connectionsMax, settings.connectionsPerAddressMax);
  const sessions = new Set<Session>();
  const node = deps.random.token(NODE_NAME_LENGTH);
  let connCount = 0;
  let isDraining = false;

  const options: LeanOptions = {
    noServer: true,
    clientTracking: false,
    // One compressed message would cost a socket 230 KB for as long as it lives.
    perMessageDeflate: false,
    maxPayload: limits.frameBytesMax,
    maxFragments: FRAGMENTS_MAX,
    maxBufferedChunks: CHUNKS_MAX,
    // Sessions answer pings themselves, at a rate.
    autoPong: false,
    closeTimeout: settings.closeTimeoutMs,
    WebSocket: GatewaySocket,
    handleProtocols: (offered) => chooseSubprotocol(offered, codecs),
  };
  const server = new WebSocketServer(options);
  server.on('wsClientError', (error, stream) => {
    metrics.handshake('bad_request');
    refuse(stream, 400, error.message);
  });

  function ended(address: string, closeCode: number): void {
    connections.leave(address);
    metrics.connectionClosed(closeCode);
  }

  const sessionDeps: SessionDeps = {
    ...deps,
    registry,
    heartbeat,
    frameRate: new FrameRate(settings.framesBurst, settings.framesPerSecond),
    nextConn: () => `${node}-${(connCount++).toString(36)}`,
    ended(session, closeCode) {
      sessions.delete(session);
      ended(session.address, closeCode);
    },
  };

  function accept(socket: GatewaySocket, stream: NetStream, address: string, isForbidden: boolean): void {
    metrics.connectionOpened();
    const codec = codecs.get(socket.protocol);
    if (codec === undefined || isForbidden) {
      metrics.handshake(isForbidden ? 'forbidden_origin' : 'bad_subprotocol');
      turnAway(socket, stream, isForbidden ? 4403 : 4405, (code) => ended(address, code));
      return;
    }
    metrics.handshake('accepted');
    sessions.add(new Session(sessionDeps, socket, stream, codec, address));
  }

  return {
    listener: registry,

    get connections() {
      return connections.count;
    },

    handleUpgrade(request, stream, head) {
      const [path] = (request.url ?? '').split('?', 1);
      if (path !== PATH) return refuse(stream, 404);
      if (isDraining) {
        metrics.handshake('draining');
        return refuse(stream, 503, 'the node is going down');
      }
      const address = request.socket.remoteAddress ?? '';
      const refusal = connections.refusal(address);
      if (refusal !== null) {
        metrics.handshake('full');
        return refuse(stream, refusal === 'node_full' ? 503 : 429, 'too many connections');
      }
      server.handleUpgrade(request, stream, head, (socket) => {
        connections.enter(address);
        accept(socket, stream as NetStream, address, !isOriginAllowed(request, settings.allowedOrigins));
      });
    },

    async drain(windowMs) {
      isDraining = true;
      await drain({ ...deps, sessions }, windowMs, settings.closeTimeoutMs);
      await services.commands.flush();
    },

    close() {
      isDraining = true;
      watch.stop();
      heartbeat.stop();
      for (const session of sessions) session.cut();
    },
  };
}

/** The first that both sides know, in the order of the client. */
function chooseSubprotocol(offered: ReadonlySet<string>, known: ReadonlyMap<string, unknown>): string | false {
  for (const name of offered) if (known.has(name)) return name;
  for (const name of offered) if (name.startsWith(SUBPROTOCOL_FAMILY)) return name;
  return false;
}

/**
 * Exactly the origins listed, and pages that this very host serves. Programs that are no browsers send none; there are no cookies that
 * a foreign page could ride on, so that is no hole.
 */
function isOriginAllowed({ headers }: IncomingMessage, allowed: readonly string[]): boolean {
  const { origin, host } = headers;
  if (origin === undefined || allowed.includes(origin)) return true;
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}

/** Accepted only to say why not, since a browser tells its page nothing of a refused handshake. */
function turnAway(socket: GatewaySocket, stream: Duplex, code: CloseCode, ended: (closeCode: number) => void): void {
  socket.owner = { received: () => {}, controlled: () => {}, malformed: () => {}, ended: () => ended(code) };
  const { reason } = closeCodes[code];
  stream.write(messageFrame(JSON.stringify({ t: 'bye', code, reason })));
  socket.close(code, reason);
}

function refuse(stream: Duplex, status: number, message = STATUS_CODES[status] ?? ''): void {
  stream.on('error', () => stream.destroy());
  if (!stream.writable) return void stream.destroy();
  const headers = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(message)}`,
    ...(status === 503 || status === 429 ? [`Retry-After: ${RETRY_AFTER_SECONDS}`] : []),
  ];
  stream.once('finish', () => stream.destroy());
  stream.end(`${headers.join('\r\n')}\r\n\r\n${message}`);
}
