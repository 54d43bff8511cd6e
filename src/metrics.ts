import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { events } from '../protocol/index.ts';

/**
 * One method for each thing that happens. Callers say what happened; which metric that moves, and under which labels, is
 * decided here alone. Labels take their values from short lists, never from ids.
 */
export interface Metrics {
  // Connections
  handshake(result: 'accepted' | 'forbidden_origin' | 'bad_subprotocol' | 'bad_request' | 'full' | 'draining'): void;
  connectionOpened(): void;
  /** `closeCode` as sent or received; 1006 when the link broke. */
  connectionClosed(closeCode: number): void;
  /** Sockets that are synced, out of those that are open. */
  sessionLive(change: 1 | -1): void;
  helloAnswered(seconds: number): void;
  slowConsumerClosed(): void;
  halfOpenClosed(): void;
  rateLimited(scope: string): void;
  /** Sockets not yet closed by the drain. */
  drainRemaining(sockets: number): void;

  // Sync
  synced(mode: string, reason: string | undefined): void;
  /** SY7: the digest of a client differed at the same version. */
  diverged(): void;
  /** A cursor ahead of the server in the same epoch (SY2). */
  versionRegressed(): void;
  rebuilt(seconds: number): void;
  /** From the commit of a change to the write of its frame. */
  pushed(seconds: number): void;
  /** Changes that were merged into a frame that was still waiting. */
  coalesced(changes: number): void;

  // Facts
  eventsAnswered(values: readonly unknown[], results: readonly EventOutcome[]): void;
  /** OR3. */
  lateInserts(messages: number): void;
  acked(status: string): void;
  truthRetried(reason: string): void;
  outbox(depth: number, lagSeconds: number): void;

  // Repair
  reconciled(users: number, seconds: number): void;
  /** A row that differed from truth at equal revs. */
  drifted(kind: string): void;
  invariantViolated(name: string): void;
  eventIdsTrimmed(count: number): void;

  // HTTP
  requestAnswered(route: string, method: string, status: number, seconds: number): void;
  requestsInFlight(count: number): void;
}

export interface EventOutcome {
  readonly ok: boolean;
  readonly duplicate?: boolean | undefined;
  readonly error?: { readonly code: string } | undefined;
}

export interface MetricsRegistry extends Metrics {
  /** The text format of Prometheus. */
  render(): Promise<string>;
  readonly contentType: string;
  /** Name, kind, labels and meaning of each metric of the product, for the operations page. */
  describe(): MetricDescription[];
}

export interface MetricDescription {
  readonly name: string;
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
}

const PREFIX = 'tidemark_';
/** From a tenth of a millisecond (a push within the process) to the time after which a caller has given up. */
const SECONDS = [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function createMetrics(): MetricsRegistry {
  const registry = new Registry();
  const described: MetricDescription[] = [];
  collectDefaultMetrics({ register: registry });

  function counter(name: string, help: string, ...labelNames: string[]): Counter {
    const metric = new Counter({ name: PREFIX + name, help, labelNames, registers: [registry] });
    described.push({ name: PREFIX + name, kind: 'counter', labels: labelNames, help });
    return metric;
  }
  function gauge(name: string, help: string, ...labelNames: string[]): Gauge {
    const metric = new Gauge({ name: PREFIX + name, help, labelNames, registers: [registry] });
    described.push({ name: PREFIX + name, kind: 'gauge', labels: labelNames, help });
    return metric;
  }
  function histogram(name: string, help: string, ...labelNames: string[]): Histogram {
    const metric = new Histogram({ name: PREFIX + name, help, labelNames, buckets: SECONDS, registers: [registry] });
    described.push({ name: PREFIX + name, kind: 'histogram', labels: labelNames, help });
    return metric;
  }

  const connections = gauge('connections', 'Sockets by state: open, and of these live (greeted and synced).', 'state');
  const handshakes = counter('handshakes_total', 'WebSocket handshakes by result.', 'result');
  const closes = counter('closes_total', 'Sockets closed, by close code.', 'code');
  const syncSeconds = histogram('sync_seconds', 'From hello or sync to the answer.');
  const slow = counter('slow_consumer_closed_total', 'Sockets closed with 4100: they did not read what was sent.');
  const halfOpen = counter('half_open_closed_total', 'Sockets closed because their peer went silent.');
  const limited = counter('rate_limited_total', 'Requests, frames and connections refused by a limit.', 'scope');
  const draining = gauge('drain_remaining', 'Sockets that the drain has still to close.');
  const syncs = counter('sync_total', 'Answers to hello, sync and pull, by mode and reason.', 'mode', 'reason');
  const divergence = counter('divergence_total', 'Clients whose digest differed at the same version. Above 0: page somebody.');
  const regress = counter('version_regress_total', 'Cursors ahead of the server within one epoch. Above 0: page somebody.');
  const rebuilds = histogram('rebuild_seconds', "Building one user's state from truth.");
  const pushSeconds = histogram('push_to_client_seconds', 'From the commit of a change to the socket write of its frame.');
  const coalesced = counter('pending_coalesced_total', 'Changes merged into a frame that was still waiting.');
  const eventResults = counter('events_total', 'Events by type and result: ok, duplicate, or the error code.', 'type', 'result');
  const late = counter('late_inserts_total', 'Messages inserted below the head (OR3).');
  const acks = counter('ack_total', 'Items of acks by status.', 'status');
  const retries = counter('truth_retry_total', 'Transactions of truth that were run again, by reason.', 'reason');
  const outboxDepth = gauge('outbox_depth', 'Changes whose fan-out is not confirmed.');
  const outboxLag = gauge('outbox_lag_seconds', 'Age of the oldest of these.');
  const reconciledUsers = counter('reconciled_users_total', 'Users whose rows were compared with truth.');
  const reconcileSeconds = histogram('reconcile_seconds', 'One pass of reconcile.');
  const drift = counter('drift_rows_total', 'Rows that reconcile found to differ from truth, by kind.', 'kind');
  const invariants = counter('invariant_violation_total', 'Assertions that did not hold. Above 0: page somebody.', 'name');
  const trimmed = counter('event_ids_trimmed_total', 'Event ids forgotten after their retention.');
  const requests = counter('http_requests_total', 'HTTP requests by route, method and status.', 'route', 'method', 'status');
  const requestSeconds = histogram('http_request_seconds', 'From the request line to the answer.', 'route');
  const inFlight = gauge('http_requests_in_flight', 'HTTP requests being answered.');

  return {
    contentType: registry.contentType,
    render: () => registry.metrics(),
    describe: () => described,

    handshake: (result) => handshakes.inc({ result }),
    connectionOpened: () => connections.inc({ state: 'open' }),
    connectionClosed(code) {
      connections.dec({ state: 'open' });
      closes.inc({ code: String(code) });
    },
    sessionLive: (change) => connections.inc({ state: 'live' }, change),
    helloAnswered: (seconds) => syncSeconds.observe(seconds),
    slowConsumerClosed: () => slow.inc(),
    halfOpenClosed: () => halfOpen.inc(),
    rateLimited: (scope) => limited.inc({ scope }),
    drainRemaining: (sockets) => draining.set(sockets),

    synced: (mode, reason) => syncs.inc({ mode, reason: reason ?? 'none' }),
    diverged: () => divergence.inc(),
    versionRegressed: () => regress.inc(),
    rebuilt: (seconds) => rebuilds.observe(seconds),
    pushed: (seconds) => pushSeconds.observe(seconds),
    coalesced: (changes) => coalesced.inc(changes),

    eventsAnswered(values, results) {
      results.forEach((result, i) => eventResults.inc({ type: typeLabel(values[i]), result: resultLabel(result) }));
    },
    lateInserts: (messages) => late.inc(messages),
    acked: (status) => acks.inc({ status }),
    truthRetried: (reason) => retries.inc({ reason }),
    outbox(depth, lagSeconds) {
      outboxDepth.set(depth);
      outboxLag.set(lagSeconds);
    },

    reconciled(users, seconds) {
      reconciledUsers.inc(users);
      reconcileSeconds.observe(seconds);
    },
    drifted: (kind) => drift.inc({ kind }),
    invariantViolated: (name) => invariants.inc({ name }),
    eventIdsTrimmed: (count) => trimmed.inc(count),

    requestAnswered(route, method, status, seconds) {
      requests.inc({ route, method, status: String(status) });
      requestSeconds.observe({ route }, seconds);
    },
    requestsInFlight: (count) => inFlight.set(count),
  };
}

const nothing = (): void => {};

/** For whoever does not look: tests and tools. */
export const noMetrics: Metrics = {
  handshake: nothing,
  connectionOpened: nothing,
  connectionClosed: nothing,
  sessionLive: nothing,
  helloAnswered: nothing,
  slowConsumerClosed: nothing,
  halfOpenClosed: nothing,
  rateLimited: nothing,
  drainRemaining: nothing,
  synced: nothing,
  diverged: nothing,
  versionRegressed: nothing,
  rebuilt: nothing,
  pushed: nothing,
  coalesced: nothing,
  eventsAnswered: nothing,
  lateInserts: nothing,
  acked: nothing,
  truthRetried: nothing,
  outbox: nothing,
  reconciled: nothing,
  drifted: nothing,
  invariantViolated: nothing,
  eventIdsTrimmed: nothing,
  requestAnswered: nothing,
  requestsInFlight: nothing,
};

function typeLabel(value: unknown): string {
  const type = typeof value === 'object' && value !== null && 'type' in value ? value.type : undefined;
  return typeof type === 'string' && Object.hasOwn(events, type) ? type : 'unknown';
}

function resultLabel(result: EventOutcome): string {
  if (!result.ok) return result.error?.code ?? 'internal';
  return result.duplicate === true ? 'duplicate' : 'ok';
}
