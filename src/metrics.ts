import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { closeCodes, events } from '../protocol/index.ts';

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
  /** Changes that were merged into a frame that was still waiting. */
  coalesced(changes: number): void;

  // Facts
  eventsAnswered(values: readonly unknown[], results: readonly EventOutcome[]): void;
  /** OR3. */
  lateInserts(messages: number): void;
  acked(status: string): void;

  // Repair
  reconciled(users: number, seconds: number): void;
  /** Rows that differed from truth at equal revs (`state`), or truth's formula from a count of its messages (`truth`). */
  drifted(kind: 'state' | 'truth', rows: number): void;
  eventIdsTrimmed(count: number): void;
  /** Rows of the outbox that were fanned out again. */
  relayed(rows: number): void;

  // Streams
  /** Entries of a stream that are not done; null: this node does not read it any more. */
  streamWaiting(partition: number, entries: number | null): void;
  streamRedelivered(entries: number): void;
  streamDeadLettered(code: string): void;
  /** A reader gave its stream back, since a store was away. */
  streamPaused(): void;

  // Truth
  /** A transaction or read that ran again: others were in the way (`contended`), or the connection failed (`away`). */
  truthRetried(reason: 'contended' | 'away'): void;

  /** `bug`: an assertion did not hold; `unexpected`: anything else that nobody foresaw. */
  faulted(kind: 'bug' | 'unexpected'): void;

  // HTTP
  requestAnswered(route: string, method: string, status: number, seconds: number): void;
  requestsInFlight(count: number): void;
}

interface EventOutcome {
  readonly ok: boolean;
  readonly duplicate?: boolean | undefined;
  readonly error?: { readonly code: string } | undefined;
}

export interface MetricsRegistry extends Metrics {
  /** The text format of Prometheus. */
  render(): Promise<string>;
  readonly contentType: string;
}

export interface MetricDefinition {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
}

/** Without the prefix. docs/OPERATIONS.md shows the same table. */
export const metricDefinitions = {
  connections: gauge('Sockets by state: open, and of these live (greeted and synced).', 'state'),
  handshakes_total: counter('WebSocket handshakes by result.', 'result'),
  closes_total: counter('Sockets closed, by close code; `other` for codes that only their peer knows.', 'code'),
  slow_consumer_closed_total: counter('Sockets closed with 4100: they did not read what was sent.'),
  half_open_closed_total: counter('Sockets closed because their peer went silent.'),
  rate_limited_total: counter('Requests, frames and connections refused by a limit.', 'scope'),
  drain_remaining: gauge('Sockets that the drain has still to close.'),

  sync_total: counter('Answers to hello, sync and pull, by mode and reason.', 'mode', 'reason'),
  sync_seconds: histogram('From hello or sync to the answer.'),
  divergence_total: counter('Clients whose digest differed at the same version. Above 0: page somebody.'),
  version_regress_total: counter('Cursors ahead of the server within one epoch. Above 0: page somebody.'),
  rebuild_seconds: histogram("Building one user's state from truth."),
  pending_coalesced_total: counter('Changes merged into a frame that was still waiting.'),

  events_total: counter('Events by type and result: ok, duplicate, or the error code.', 'type', 'result'),
  late_inserts_total: counter('Messages inserted below the head (OR3).'),
  ack_total: counter('Items of acks by status.', 'status'),

  reconciled_users_total: counter('Users whose rows were compared with truth.'),
  reconcile_seconds: histogram('One pass of reconcile.'),
  drift_rows_total: counter('Rows that reconcile found to differ from truth, by kind.', 'kind'),
  faults_total: counter(
    'Faults of the server itself: an assertion that did not hold (bug), or anything unforeseen. Above 0: page somebody.',
    'kind',
  ),
  outbox_relayed_total: counter(
    'Rows of the outbox that were fanned out again, since somebody did not end it in time.',
  ),
  event_ids_trimmed_total: counter('Event ids forgotten after their retention.'),
  stream_waiting_entries: gauge('Entries not yet done of each stream that this node reads.', 'stream'),
  stream_redelivered_total: counter('Entries delivered again: a reader had left them, or they had been refused.'),
  stream_dead_letters_total: counter('Entries refused for good, by the error code of the last time.', 'code'),
  stream_pauses_total: counter('Times that a stream was given back because a store was away.'),
  truth_retries_total: counter(
    'Transactions and reads of truth that ran again: after a deadlock or lock wait (contended), or on another connection (away).',
    'reason',
  ),

  http_requests_total: counter('HTTP requests by route, method and status.', 'route', 'method', 'status'),
  http_request_seconds: histogram('From the request line to the answer.', 'route'),
  http_requests_in_flight: gauge('HTTP requests being answered.'),
} as const satisfies Record<string, MetricDefinition>;

export const METRIC_PREFIX = 'tidemark_';
/** From a tenth of a millisecond (a push within the process) to the time after which a caller has given up. */
const SECONDS = [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Of RFC 6455 §7.4.1: the ends that every WebSocket client knows. */
const USUAL_CLOSE_CODES = new Set([1000, 1001, 1005, 1006]);

export function createMetrics(): MetricsRegistry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const m = register(registry);
  return {
    contentType: registry.contentType,
    render: () => registry.metrics(),

    handshake: (result) => m.handshakes_total.inc({ result }),
    connectionOpened: () => m.connections.inc({ state: 'open' }),
    connectionClosed(code) {
      m.connections.dec({ state: 'open' });
      m.closes_total.inc({ code: closeLabel(code) });
    },
    sessionLive: (change) => m.connections.inc({ state: 'live' }, change),
    helloAnswered: (seconds) => m.sync_seconds.observe(seconds),
    slowConsumerClosed: () => m.slow_consumer_closed_total.inc(),
    halfOpenClosed: () => m.half_open_closed_total.inc(),
    rateLimited: (scope) => m.rate_limited_total.inc({ scope }),
    drainRemaining: (sockets) => m.drain_remaining.set(sockets),

    synced: (mode, reason) => m.sync_total.inc({ mode, reason: reason ?? 'none' }),
    diverged: () => m.divergence_total.inc(),
    versionRegressed: () => m.version_regress_total.inc(),
    rebuilt: (seconds) => m.rebuild_seconds.observe(seconds),
    coalesced: (changes) => m.pending_coalesced_total.inc(changes),

    eventsAnswered(values, results) {
      results.forEach((result, i) => m.events_total.inc({ type: typeLabel(values[i]), result: resultLabel(result) }));
    },
    lateInserts: (messages) => m.late_inserts_total.inc(messages),
    acked: (status) => m.ack_total.inc({ status }),

    reconciled(users, seconds) {
      m.reconciled_users_total.inc(users);
      m.reconcile_seconds.observe(seconds);
    },
    drifted: (kind, rows) => m.drift_rows_total.inc({ kind }, rows),
    faulted: (kind) => m.faults_total.inc({ kind }),
    relayed: (rows) => m.outbox_relayed_total.inc(rows),
    eventIdsTrimmed: (count) => m.event_ids_trimmed_total.inc(count),
    streamWaiting(partition, entries) {
      if (entries === null) m.stream_waiting_entries.remove({ stream: String(partition) });
      else m.stream_waiting_entries.set({ stream: String(partition) }, entries);
    },
    streamRedelivered: (entries) => m.stream_redelivered_total.inc(entries),
    streamDeadLettered: (code) => m.stream_dead_letters_total.inc({ code }),
    streamPaused: () => m.stream_pauses_total.inc(),
    truthRetried: (reason) => m.truth_retries_total.inc({ reason }),

    requestAnswered(route, method, status, seconds) {
      m.http_requests_total.inc({ route, method, status: String(status) });
      m.http_request_seconds.observe({ route }, seconds);
    },
    requestsInFlight: (count) => m.http_requests_in_flight.set(count),
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
  coalesced: nothing,
  eventsAnswered: nothing,
  lateInserts: nothing,
  acked: nothing,
  reconciled: nothing,
  drifted: nothing,
  faulted: nothing,
  eventIdsTrimmed: nothing,
  relayed: nothing,
  streamWaiting: nothing,
  streamRedelivered: nothing,
  streamDeadLettered: nothing,
  streamPaused: nothing,
  truthRetried: nothing,
  requestAnswered: nothing,
  requestsInFlight: nothing,
};

/** A peer may close with any of two thousand codes; only those that mean something here get a label of their own. */
function closeLabel(code: number): string {
  return Object.hasOwn(closeCodes, code) || USUAL_CLOSE_CODES.has(code) ? String(code) : 'other';
}

function typeLabel(value: unknown): string {
  const type = typeof value === 'object' && value !== null && 'type' in value ? value.type : undefined;
  return typeof type === 'string' && Object.hasOwn(events, type) ? type : 'unknown';
}

function resultLabel(result: EventOutcome): string {
  if (!result.ok) return result.error?.code ?? 'internal';
  return result.duplicate === true ? 'duplicate' : 'ok';
}

interface MetricOf {
  counter: Counter;
  gauge: Gauge;
  histogram: Histogram;
}
type Definitions = typeof metricDefinitions;
type Registered = { [K in keyof Definitions]: MetricOf[Definitions[K]['kind']] };

function register(registry: Registry): Registered {
  const made = Object.entries(metricDefinitions).map(([name, { kind, labels, help }]) => {
    const options = { name: METRIC_PREFIX + name, help, labelNames: [...labels], registers: [registry] };
    if (kind === 'counter') return [name, new Counter(options)];
    if (kind === 'gauge') return [name, new Gauge(options)];
    return [name, new Histogram({ ...options, buckets: SECONDS })];
  });
  return Object.fromEntries(made) as Registered;
}

function counter(help: string, ...labels: string[]) {
  return { kind: 'counter' as const, labels, help };
}

function gauge(help: string, ...labels: string[]) {
  return { kind: 'gauge' as const, labels, help };
}

function histogram(help: string, ...labels: string[]) {
  return { kind: 'histogram' as const, labels, help };
}
