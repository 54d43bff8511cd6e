import { type RequestListener } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { TrieRouter } from 'hono/router/trie-router';
import { Deadline } from '../deadline.ts';
import { Bug, codeOf, UserFault } from '../errors.ts';
import { type Log, logError } from '../log.ts';
import type { MetricsRegistry } from '../metrics.ts';
import type { Clock } from '../ports.ts';
import type { Services } from '../services/services.ts';
import type { VerifiedToken } from '../user-tokens.ts';
import { createAdmission } from './admission.ts';
import { type ApiKeys, bearerOf } from './api-key.ts';
import { careRoutes } from './care.ts';
import { commandRoutes } from './commands.ts';
import { crossOriginHeaders, preflightHeaders } from './cross-origin.ts';
import { errorAnswer } from './error-answer.ts';
import { eventRoutes } from './events.ts';
import { healthRoutes } from './health.ts';
import { inspectRoutes } from './inspect.ts';
import { createPullRate } from './pull-rate.ts';
import type { Readiness } from './readiness.ts';
import { readBody } from './request-body.ts';
import type { ApiContext, ApiVariables, ReadBody, Route } from './route.ts';
import { syncRoutes } from './sync.ts';
import { unreadRoutes } from './unread.ts';

export interface ApiDeps {
  readonly services: Services;
  readonly apiKeys: ApiKeys;
  readonly metrics: MetricsRegistry;
  readonly log: Log;
  readonly clock: Clock;
  readonly bodyBytesMax: number;
  readonly requestsInFlightMax: number;
  /** Bodies of all requests together. */
  readonly bodiesBytesMax: number;
  /** Pulls of one user. */
  readonly pullsPerSecondMax: number;
  /** Pages of other origins that may use the pull fallback. */
  readonly allowedOrigins: readonly string[];
  readonly metricsOpen: boolean;
  readonly verifyToken: (text: string) => Promise<VerifiedToken>;
  readonly disconnect: (user: string, device: string | null) => Promise<void>;
  readonly ready: () => Promise<Readiness>;
}

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'];
const UNMATCHED = 'none';
/** HTTP/1.0 requests need not name a host, and no route looks at it. */
const HOST_IF_NOT_NAMED = 'localhost';

/**
 * The HTTP side (SPEC §12): routes, and around each of them the same steps: path → key or token → admission → body → answer
 * in time, with every failure as `{error: {code, message, field?}}`.
 */
export function createApi(deps: ApiDeps): RequestListener {
  const { services, apiKeys, metrics, log, clock } = deps;
  const admission = createAdmission({ requestsMax: deps.requestsInFlightMax, bytesMax: deps.bodiesBytesMax }, metrics);
  // Trie: the regular-expression router takes `unread:batchGet` for a parameter in the middle of a segment.
  const app = new Hono<{ Bindings: ApiContext['env']; Variables: ApiVariables }>({ router: new TrieRouter() });

  const bodyOf: ReadBody = async (c, schema, list) => {
    const ticket = c.get('ticket');
    if (ticket === undefined) throw new Bug('a route that is always admitted reads a body');
    const deadline = c.get('deadline');
    deadline.suspend();
    try {
      return await readBody(c.env.incoming, ticket, deps.bodyBytesMax, schema, list);
    } finally {
      deadline.begin();
    }
  };

  async function admit(c: ApiContext, { access, isAlwaysAdmitted }: Route): Promise<void> {
    const path = (c.env.incoming.url ?? '').split('?', 1)[0] ?? '';
    if (!isDecodable(path)) throw new UserFault('invalid_field', 'the path has a faulty percent escape', 'path');
    const given = bearerOf(c.env.incoming.headers.authorization);
    if (access === 'key' && (given === null || !apiKeys.accepts(given))) {
      throw new UserFault('unauthorized', given === null ? 'an API key is needed' : 'the API key is not valid');
    }
    if (access === 'token') {
      if (given === null) throw new UserFault('unauthorized', 'a user token is needed');
      const verified = await deps.verifyToken(given);
      if (!verified.ok) throw new UserFault('unauthorized', verified.message);
      c.set('caller', verified.token);
    }
    if (isAlwaysAdmitted !== true) c.set('ticket', admission.enter());
  }

  async function run(c: ApiContext, route: Route): Promise<Response> {
    const startedAtMs = performance.now();
    let response: Response;
    if (route.access === 'token') setHeaders(c, crossOriginHeaders(c, deps.allowedOrigins));
    try {
      await admit(c, route);
      const deadline = new Deadline(clock);
      c.set('deadline', deadline);
      response = await deadline.meet(Promise.resolve(route.answer(c)), noteFault);
    } catch (error) {
      response = failed(c, error);
    } finally {
      c.get('ticket')?.leave();
    }
    metrics.requestAnswered(route.path, route.method, response.status, (performance.now() - startedAtMs) / 1000);
    return response;
  }

  function preflight(c: ApiContext): Response {
    const headers = preflightHeaders(c, deps.allowedOrigins);
    return headers === null ? unmatched(c) : c.body(null, 204, headers);
  }

  /** No such path, or not with this method. */
  function unmatched(c: ApiContext): Response {
    const allowed = METHODS.filter((method) => app.router.match(method, c.req.path)[0].length > 0);
    const isPath = allowed.length > 0;
    const method = METHODS.includes(c.req.method) ? c.req.method : UNMATCHED;
    metrics.requestAnswered(UNMATCHED, method, isPath ? 405 : 404, 0);
    if (!isPath) return failed(c, new UserFault('not_found', 'no such path'));
    c.header('allow', allowed.join(', '));
    return failed(c, new UserFault('method_not_allowed', `this path takes ${allowed.join(', ')}`));
  }

  function noteFault(error: unknown): void {
    logError(log, error, 'a request failed');
    if (codeOf(error) === 'internal') metrics.faulted(error instanceof Bug ? 'bug' : 'unexpected');
  }

  function failed(c: ApiContext, error: unknown): Response {
    noteFault(error);
    const { status, body, headers } = errorAnswer(error);
    setHeaders(c, headers);
    return c.json(body, status as 400);
  }

  const routes: Route[] = [
    ...eventRoutes(services, bodyOf),
    ...unreadRoutes(services, bodyOf),
    ...commandRoutes(services, bodyOf),
    ...careRoutes({ ...services, disconnect: deps.disconnect }, bodyOf),
    ...inspectRoutes({ ...services, log }),
    ...syncRoutes({
      ...services,
      metrics,
      limitPulls: createPullRate({ clock, metrics, perSecond: deps.pullsPerSecondMax }),
    }),
    ...healthRoutes(deps),
    { method: 'GET', path: '/v1/ws', access: 'open', isAlwaysAdmitted: true, answer: upgradeNeeded },
  ];
  for (const route of routes) {
    app.on(route.method, route.path, (c) => run(c, route));
    if (route.access === 'token') app.options(route.path, (c) => preflight(c));
  }
  app.notFound((c) => unmatched(c));
  app.onError((error, c) => failed(c, error));

  const listener = getRequestListener(app.fetch, {
    hostname: HOST_IF_NOT_NAMED,
    errorHandler: () => {
      const { body } = errorAnswer(new UserFault('invalid_field', 'the request has no usable URL', 'path'));
      return Response.json(body, { status: 400 });
    },
  });
  return (request, response) => void listener(request, response);
}

/** Upgrades go to the gateway and never come here; what comes here did not ask for one. */
function upgradeNeeded(c: ApiContext): Response {
  const message = 'this path takes WebSocket upgrades only';
  return c.json({ error: { code: 'invalid_field', message, field: 'upgrade' } }, 426, { upgrade: 'websocket' });
}

function setHeaders(c: ApiContext, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
