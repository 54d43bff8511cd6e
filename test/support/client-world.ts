// A client, its server and the line between them, in virtual time.
import { TidemarkClient } from '../../client/index.ts';
import type { ClientOptions } from '../../client/index.ts';
import type { ClientCodec } from '../../client/json-codec.ts';
import type { Codec } from '../../protocol/codec.ts';
import type { CountedTruth } from './counted-truth.ts';
import { ProtocolServer } from './protocol-server.ts';
import type { ServerSettings } from './protocol-server.ts';
import { VirtualClock } from './virtual-clock.ts';
import { VirtualNetwork } from './virtual-network.ts';

const HOUR_MS = 3_600_000;

export interface WorldOptions {
  server?: Partial<ServerSettings>;
  /** Of the server, and the client's half of it. Default: JSON. */
  codec?: Codec;
  clientCodec?: ClientCodec;
  tokenMs?: number;
}

export class ClientWorld {
  readonly clock = new VirtualClock();
  /** The clients' own. */
  readonly clientClock = this.clock.counted();
  readonly server: ProtocolServer;
  readonly truth: CountedTruth;
  readonly network: VirtualNetwork;
  readonly #options: WorldOptions;
  /** Calls of getToken, by reason. */
  readonly tokensAsked: string[] = [];
  #seed = 1;

  constructor(options: WorldOptions = {}) {
    this.#options = options;
    this.server = new ProtocolServer(this.clock, options.server);
    this.truth = this.server.truth;
    this.network = new VirtualNetwork(this.clock, this.server, options.codec);
  }

  /** Reproducible, even, and good enough for jitter. */
  readonly random = (): number => {
    this.#seed = (this.#seed * 48_271) % 2_147_483_647;
    return this.#seed / 2_147_483_647;
  };

  token(user: string): string {
    return ProtocolServer.token(user, this.clock.nowMs() + (this.#options.tokenMs ?? HOUR_MS));
  }

  client(user: string, options: Partial<ClientOptions> = {}): TidemarkClient {
    return new TidemarkClient({
      url: 'https://example.test',
      getToken: ({ reason }) => {
        this.tokensAsked.push(reason);
        return this.token(user);
      },
      WebSocket: this.network.WebSocket,
      clock: this.clientClock,
      random: this.random,
      ...(this.#options.clientCodec === undefined ? {} : { codec: this.#options.clientCodec }),
      ...options,
    });
  }

  /** A client that is connected and live. */
  async live(user: string, options: Partial<ClientOptions> = {}): Promise<TidemarkClient> {
    const client = this.client(user, options);
    client.connect();
    await this.until(() => client.state === 'live');
    return client;
  }

  /** Lets time pass until the condition is true; a minute of virtual time is for ever. */
  async until(condition: () => boolean, ms = 60_000): Promise<void> {
    if (!(await this.clock.passUntil(condition, ms))) throw new Error(`not within ${ms} ms of virtual time`);
  }

  /** The frames of one type that the server has received. */
  sent(type: string) {
    return this.server.frames.filter(({ t }) => t === type);
  }
}

/** What a device shows, to be compared with `truthOf`. */
export function shownBy(client: TidemarkClient) {
  const rows = client.list().map(({ conv, unread, mentions, readSeq, readEpoch, muted, marked, capped }) => ({
    conv,
    unread,
    mentions,
    readSeq,
    readEpoch,
    muted,
    marked,
    capped,
  }));
  const { total, badge, mentions } = { total: client.total(), badge: client.badge(), mentions: client.mentions() };
  return { total, badge, mentions, rows: rows.toSorted((a, b) => (a.conv < b.conv ? -1 : 1)) };
}

/** What every device of the user has to show. */
export function truthOf(truth: CountedTruth, user: string) {
  const listed = truth.rowsOf(user).filter(({ hidden }) => hidden !== true);
  const rows = listed.map((row) => ({
    conv: row.conv,
    unread: row.unread,
    mentions: row.mentions,
    readSeq: row.read_seq,
    readEpoch: row.read_epoch,
    muted: row.muted === true,
    marked: row.marked === true,
    capped: row.capped === true,
  }));
  const { total, badge, mentions } = truth.sums(user);
  return { total, badge, mentions, rows: rows.toSorted((a, b) => (a.conv < b.conv ? -1 : 1)) };
}
