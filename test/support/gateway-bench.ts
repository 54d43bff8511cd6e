import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { jsonCodec } from '../../protocol/index.ts';
import { msgpackCodec } from '../../protocol/codec-msgpack.ts';
import { defaultGatewaySettings, type GatewayDeps, type GatewaySettings } from '../../src/gateway/deps.ts';
import { createGateway, type Gateway } from '../../src/gateway/server.ts';
import { createLog } from '../../src/log.ts';
import { createMetrics, type MetricsRegistry } from '../../src/metrics.ts';
import type { Clock, Wakeup, WakeupListener } from '../../src/ports.ts';
import { createServices, type Services } from '../../src/services/services.ts';
import { createMemoryEpochs } from '../../src/state/memory-epochs.ts';
import { createMemoryState } from '../../src/state/memory.ts';
import { createMemoryWakeup } from '../../src/state/memory-wakeup.ts';
import { systemClock, systemRandom } from '../../src/system.ts';
import { openSqliteTruth } from '../../src/truth/sqlite/open.ts';
import { createUserTokens } from '../../src/user-tokens.ts';
import { LossyState } from './lossy-state.ts';
import { type Frame, openRaw, type RawHandshake, type RawSocket } from './raw-socket.ts';

/** Real sockets on a real gateway over real services, SQLite and the memory state; its wake-up and its clock can be tampered with. */
export interface GatewayBench {
  readonly port: number;
  readonly gateway: Gateway;
  readonly services: Services;
  readonly state: LossyState;
  readonly wakeup: LossyWakeup;
  readonly metrics: MetricsRegistry;
  readonly accept: (...events: object[]) => Promise<void>;
  /** Messages of `sender` to `conv`, named after their number. */
  readonly say: (conv: string, sender: string, count: number, extra?: object) => Promise<void>;
  readonly token: (user: string, given?: { device?: string; ttlMs?: number; secret?: string }) => Promise<string>;
  /** A socket that has not said hello. */
  readonly open: (handshake?: RawHandshake, port?: number) => Promise<RawSocket>;
  /** A socket that was welcomed; `hello` overrides fields. */
  readonly connect: (
    user: string,
    device: string,
    hello?: object,
    port?: number,
  ) => Promise<{ socket: RawSocket; welcome: Frame }>;
  /** A second gateway on the same services and the same wake-up; answers its port. */
  readonly openAnother: () => Promise<number>;
}

/** While `isLosing`, nothing that is published arrives. */
export class LossyWakeup implements Wakeup {
  readonly #inner = createMemoryWakeup();
  isLosing = false;

  publishChanges: Wakeup['publishChanges'] = async (changes) => {
    if (!this.isLosing) await this.#inner.publishChanges(changes);
  };
  publishLarge: Wakeup['publishLarge'] = async (notices) => {
    if (!this.isLosing) await this.#inner.publishLarge(notices);
  };
  publishMissing: Wakeup['publishMissing'] = async (users) => {
    if (!this.isLosing) await this.#inner.publishMissing(users);
  };
  publishDisconnect: Wakeup['publishDisconnect'] = (user, device) => this.#inner.publishDisconnect(user, device);
  publishOpened: Wakeup['publishOpened'] = async (connections) => {
    if (!this.isLosing) await this.#inner.publishOpened(connections);
  };
  rollCall: Wakeup['rollCall'] = (user) => this.#inner.rollCall(user);
  subscribe(listener: WakeupListener): void {
    this.#inner.subscribe(listener);
  }
  close: Wakeup['close'] = () => this.#inner.close();
}

export interface BenchOptions {
  readonly settings?: Partial<GatewaySettings>;
  /** Of the gateway alone. */
  readonly clock?: Clock;
  readonly groupThreshold?: number;
  /** Between the gateway and the services. */
  readonly tamper?: (services: Services) => Services;
}

const SECRET = 's'.repeat(32);
const HOUR_MS = 3_600_000;
let named = 0;

export async function openGatewayBench(options: BenchOptions = {}): Promise<GatewayBench> {
  const folder = mkdtempSync(path.join(tmpdir(), 'tidemark-gateway-'));
  const truth = openSqliteTruth({ file: path.join(folder, 'truth.sqlite') });
  const clock = options.clock ?? systemClock;
  const state = new LossyState(createMemoryState({ clock: systemClock }));
  const wakeup = new LossyWakeup();
  const metrics = createMetrics();
  const log = createLog('silent');
  const services = createServices({
    truth,
    state,
    wakeup,
    epochs: createMemoryEpochs({ random: systemRandom }),
    clock: systemClock,
    random: systemRandom,
    metrics,
    groupThreshold: options.groupThreshold ?? 500,
    largeMergeMs: 5,
    buildsMax: 4,
    divergenceCoolDownMs: 60_000,
    reconcileSampleRows: 3,
    onError(error) {
      throw error;
    },
  });
  const tokens = createUserTokens({ secrets: [SECRET], audience: '', issuer: '', clock });
  const gatewayDeps: GatewayDeps = {
    services: options.tamper?.(services) ?? services,
    wakeup,
    verifyToken: (text) => tokens.verify(text),
    codecs: [jsonCodec, msgpackCodec],
    clock,
    random: systemRandom,
    metrics,
    log,
    settings: { ...defaultGatewaySettings, ...options.settings },
  };
  const { gateway, port, close } = await openGateway(gatewayDeps, wakeup);
  const others: (() => Promise<void>)[] = [];
  const sockets: RawSocket[] = [];
  onTestFinished(async () => {
    for (const socket of sockets) socket.cut();
    await Promise.all([close, ...others].map((end) => end()));
    await services.post.settled();
    await services.commands.flush();
    await truth.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const bench: GatewayBench = {
    port,
    gateway,
    services,
    state,
    wakeup,
    metrics,
    async accept(...events) {
      const results = await services.post.post(events);
      const refused = results.find((result) => !result.ok);
      if (refused) throw new Error(`refused: ${JSON.stringify(refused)}`);
      await services.post.settled();
    },
    say: (conv, sender, count, extra = {}) =>
      bench.accept(
        ...Array.from({ length: count }, () => ({
          type: 'message.created',
          conv,
          sender,
          message_id: `m${++named}`,
          ...extra,
        })),
      ),
    async token(user, { device, ttlMs = HOUR_MS, secret = SECRET } = {}) {
      const signer = createUserTokens({ secrets: [secret], audience: '', issuer: '', clock });
      return signer.sign({ user, device: device ?? null, expiresAtMs: clock.nowMs() + ttlMs });
    },
    async open(handshake, at = port) {
      const socket = await openRaw(at, handshake);
      if ('status' in socket) throw new Error(`the handshake was refused: ${socket.headers}`);
      sockets.push(socket);
      return socket;
    },
    async connect(user, device, hello = {}, at = port) {
      const socket = await bench.open(undefined, at);
      socket.send({ t: 'hello', token: await bench.token(user), device, cursor: null, ...hello });
      return { socket, welcome: await socket.next('welcome') };
    },
    async openAnother() {
      const another = await openGateway(gatewayDeps, wakeup);
      others.push(another.close);
      return another.port;
    },
  };
  return bench;
}

async function openGateway(deps: GatewayDeps, wakeup: Wakeup) {
  const gateway = createGateway(deps);
  wakeup.subscribe(gateway.listener);
  const server = createServer();
  server.on('upgrade', (request, stream, head) => gateway.handleUpgrade(request, stream, head));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    gateway.close();
    await new Promise((resolve) => server.close(resolve));
  };
  return { gateway, port, close };
}
