import type { RequestListener } from 'node:http';
import { jsonCodec } from '../protocol/index.ts';
import { msgpackCodec } from '../protocol/codec-msgpack.ts';
import { type ApiKeys, createApiKeys } from './api/api-key.ts';
import { createHttpServer } from './api/http-server.ts';
import { readiness } from './api/readiness.ts';
import { createApi } from './api/server.ts';
import { createBackgroundFaults } from './background-faults.ts';
import { type Config, weakKeys } from './config.ts';
import { Bug, codeOf, Unavailable } from './errors.ts';
import { createReconcileJob } from './jobs/reconcile.ts';
import { createRelayJob } from './jobs/relay.ts';
import type { Job } from './jobs/schedule.ts';
import { createTrimEventsJob } from './jobs/trim-events.ts';
import { keptSecret, type SecretName } from './kept-secret.ts';
import { createLog, type Log } from './log.ts';
import { createMetrics, type MetricsRegistry } from './metrics.ts';
import type { Clock, Leases, Random, StateStore, Truth, Wakeup } from './ports.ts';
import { createGateway } from './gateway/server.ts';
import { defaultGatewaySettings, type GatewaySettings } from './gateway/deps.ts';
import { createServices, type Services } from './services/services.ts';
import { openStores } from './stores.ts';
import { createStreamConsumer } from './stream/stream-consumer.ts';
import { systemClock, systemRandom } from './system.ts';
import { createUserTokens, type UserTokens } from './user-tokens.ts';

/**
 * The composition root: the one place where adapters, use cases and edges meet.
 *
 *   createApp → start → drain (or stop)
 */
export interface App {
  /** Listens. Rejects when the address cannot be had; then nothing is left running. */
  start(): Promise<{ url: string }>;
  /** Ends in good order: not ready → sockets sent away → requests and commands carried out → stores closed. */
  drain(): Promise<void>;
  /** Ends at once: sockets are cut, and what was accepted is durable all the same. */
  stop(): Promise<void>;
  /** Throws before `start`. */
  readonly url: string;
  readonly services: Services;
}

/** Parts that a test or a tool may bring along. */
export interface AppOverrides {
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Log;
  readonly metrics?: MetricsRegistry;
  readonly truth?: Truth;
  readonly state?: StateStore;
  readonly wakeup?: Wakeup;
  /** Told once, when the node may no longer be served from: whoever runs it has to drain it. */
  readonly onLost?: (error: Error) => void;
  /** What answers HTTP requests in front of the API, and asks it for all that is not its own. */
  readonly front?: (parts: FrontParts) => RequestListener;
}

export interface FrontParts {
  readonly services: Services;
  readonly tokens: UserTokens;
  readonly api: RequestListener;
}

/** How many of the largest bodies may be in memory at once. */
const LARGEST_BODIES = 16;
/** ARCHITECTURE, flows: notices of one large conversation are merged for so long. */
const LARGE_MERGE_MS = 500;
const BUILDS_MAX = 16;
const DIVERGENCE_COOL_DOWN_MS = 10 * 60_000;
const RECONCILE_SAMPLE_ROWS = 3;

export async function createApp(config: Config, overrides: AppOverrides = {}): Promise<App> {
  const base = { clock: systemClock, random: systemRandom, log: createLog(config.logLevel), ...overrides };
  const { clock, random, log, metrics = createMetrics() } = base;
  const { apiKeys, tokens } = createKeys(config, base);
  const logFault = createBackgroundFaults({ log, clock });
  const stores = await openStores(config, { ...base, metrics, onError, onWait: waitedIn(log) });
  const services = createServices({
    ...base,
    ...stores,
    metrics,
    groupThreshold: config.groupThreshold,
    largeMergeMs: LARGE_MERGE_MS,
    buildsMax: BUILDS_MAX,
    divergenceCoolDownMs: DIVERGENCE_COOL_DOWN_MS,
    reconcileSampleRows: RECONCILE_SAMPLE_ROWS,
    onError,
  });
  let isReady = false;
  const api = createApi({
    services,
    apiKeys,
    metrics,
    log,
    clock,
    bodyBytesMax: config.bodyBytesMax,
    bodiesBytesMax: config.bodyBytesMax * LARGEST_BODIES,
    requestsInFlightMax: config.requestsInFlightMax,
    pullsPerSecondMax: config.pullsPerSecondMax,
    allowedOrigins: config.allowedOrigins,
    metricsOpen: config.metricsOpen,
    verifyToken: (text) => tokens.verify(text),
    disconnect: (user, device) => stores.wakeup.publishDisconnect(user, device),
    async ready() {
      if (!isReady) throw new Unavailable('the server is starting or about to stop', config.drainMs);
      return readiness({ ...stores, clock, onError });
    },
  });
  const http = createHttpServer(overrides.front?.({ services, tokens, api }) ?? api, clock);
  const gateway = createGateway({
    services,
    wakeup: stores.wakeup,
    verifyToken: (text) => tokens.verify(text),
    codecs: [jsonCodec, msgpackCodec],
    clock,
    random,
    metrics,
    log,
    settings: gatewaySettings(config),
  });
  http.server.on('upgrade', (request, stream, head) => gateway.handleUpgrade(request, stream, head));
  stores.wakeup.subscribe(gateway.listener);
  const jobs = createJobs(config, { ...stores, services, clock, random, log, metrics, onError });

  function onError(error: unknown): void {
    logFault(error);
    if (codeOf(error) === 'internal') metrics.faulted(error instanceof Bug ? 'bug' : 'unexpected');
  }

  /** In this order: nobody new, sockets away, requests answered, commands carried out, and only then the stores. */
  async function end(isPatient: boolean): Promise<void> {
    isReady = false;
    http.endKeepAlive();
    services.watch.close();
    const jobsEnded = Promise.all(jobs.map((job) => job.stop()));
    if (isPatient) await gateway.drain(config.drainMs);
    gateway.close();
    await http.close();
    await jobsEnded;
    await services.post.settled();
    await services.commands.flush();
    await stores.close();
  }

  let url: string | null = null;
  let ending: Promise<void> | null = null;
  return {
    services,
    get url() {
      if (url === null) throw new Error('the server has not been started');
      return url;
    },
    async start() {
      try {
        url = await http.listen(config.host, config.port);
      } catch (error) {
        gateway.close();
        await Promise.all(jobs.map((job) => job.stop()));
        await stores.close();
        const reason = error instanceof Error ? error.message : String(error);
        throw new Error(`cannot listen where TIDEMARK_HOST and TIDEMARK_PORT say: ${reason}`, { cause: error });
      }
      for (const job of jobs) job.start();
      isReady = true;
      return { url };
    },
    drain: () => (ending ??= end(true)),
    stop() {
      gateway.close();
      http.cut();
      return (ending ??= end(false));
    },
  };
}

function waitedIn(log: Log): (err: unknown, patienceMs: number) => void {
  return (err, patienceMs) => log.warn({ err, patienceMs }, 'waiting for truth');
}

function gatewaySettings(config: Config): GatewaySettings {
  return {
    ...defaultGatewaySettings,
    heartbeatMs: config.heartbeatMs,
    helloTimeoutMs: config.helloTimeoutMs,
    connectionsMax: config.connectionsMax,
    connectionsPerUserMax: config.connectionsPerUserMax,
    connectionsPerAddressMax: config.connectionsPerAddressMax,
    framesBurst: config.framesBurst,
    framesPerSecond: config.framesPerSecond,
    allowedOrigins: config.allowedOrigins,
  };
}

/** What is not configured is made on first start. The log says where it is kept, and never what it is. */
function createKeys(
  config: Config,
  { clock, random, log }: { clock: Clock; random: Random; log: Log },
): { apiKeys: ApiKeys; tokens: UserTokens } {
  const keyOr = (given: string | null, name: SecretName): string => {
    if (given !== null) return given;
    const { value, file, isNew } = keptSecret(config.dataDir, name, random);
    log.info({ file }, isNew ? `made the ${name}; it is kept in this file` : `the ${name} is kept in this file`);
    return value;
  };
  for (const env of weakKeys(config)) log.warn({ env }, 'this key is short enough to be guessed');
  const apiKey = keyOr(config.apiKey, 'api-key');
  const tokenSecret = keyOr(config.tokenSecret, 'token-secret');
  const { apiKeyPrevious, tokenSecretPrevious, tokenAudience: audience, tokenIssuer: issuer } = config;
  return {
    apiKeys: createApiKeys(apiKeyPrevious === null ? [apiKey] : [apiKey, apiKeyPrevious]),
    tokens: createUserTokens({
      secrets: tokenSecretPrevious === null ? [tokenSecret] : [tokenSecret, tokenSecretPrevious],
      audience,
      issuer,
      clock,
    }),
  };
}

interface JobParts {
  readonly truth: Truth;
  readonly leases: Leases;
  readonly state: StateStore;
  readonly services: Services;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: MetricsRegistry;
  readonly onError: (error: unknown) => void;
}

function createJobs(config: Config, { services, ...parts }: JobParts): Job[] {
  const trim = createTrimEventsJob({ ...parts, retentionMs: config.eventIdRetentionMs });
  const { reconcileIntervalMs: intervalMs, reconcileUsersMax: usersMax } = config;
  const jobs: Job[] = [trim, ...streamJobs(config, { ...parts, services })];
  // A state that dies with the process is owed nothing by those before it.
  if (parts.state.outlivesProcess) jobs.push(createRelayJob({ ...parts, fanOut: services.fanOut }));
  if (intervalMs > 0) jobs.push(createReconcileJob({ ...parts, reconcile: services.reconcile, intervalMs, usersMax }));
  return jobs;
}

function streamJobs(config: Config, { services, state, ...parts }: JobParts): Job[] {
  const { streamPrefix: prefix, streamPartitions: partitions } = config;
  const url = config.streamUrl ?? config.redisUrl;
  if (prefix === '' || url === null) return [];
  const { post } = services;
  return [createStreamConsumer({ ...parts, url, prefix, partitions, post, ready: () => state.ping() })];
}
