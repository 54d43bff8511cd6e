import type { Codec } from '../../protocol/index.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Clock, Random, Wakeup } from '../ports.ts';
import type { Services } from '../services/services.ts';
import type { UserTokens } from '../user-tokens.ts';

export interface GatewaySettings {
  readonly heartbeatMs: number;
  /** DT5. */
  readonly helloTimeoutMs: number;
  /** After a heartbeat to which nothing was heard the peer is given up. */
  readonly silenceMaxMs: number;
  /** A write that takes longer ends the socket with 4100. */
  readonly unsentMaxMs: number;
  /** A socket whose closing handshake takes longer is cut. */
  readonly closeTimeoutMs: number;
  readonly connectionsMax: number;
  readonly connectionsPerUserMax: number;
  /** Of one IPv4 address or one IPv6 /64; loopback is not counted, since a proxy on the same machine hides everybody there. */
  readonly connectionsPerAddressMax: number;
  /** Frames of one socket: so many at once, and so many a second in the long run; above it the socket is read more slowly. */
  readonly framesBurst: number;
  readonly framesPerSecond: number;
  /** Pages of these origins may connect, besides those that this host serves. */
  readonly allowedOrigins: readonly string[];
}

export const defaultGatewaySettings: GatewaySettings = {
  heartbeatMs: 25_000,
  helloTimeoutMs: 10_000,
  silenceMaxMs: 8000,
  unsentMaxMs: 10_000,
  closeTimeoutMs: 2000,
  connectionsMax: 100_000,
  connectionsPerUserMax: 10,
  connectionsPerAddressMax: 1000,
  framesBurst: 1000,
  framesPerSecond: 500,
  allowedOrigins: [],
};

export interface GatewayDeps {
  readonly services: Pick<Services, 'commands' | 'sync' | 'fanOut'>;
  readonly wakeup: Pick<Wakeup, 'publishOpened'>;
  verifyToken: UserTokens['verify'];
  readonly codecs: readonly Codec[];
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly settings: GatewaySettings;
}
