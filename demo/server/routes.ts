import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { getCookie, setCookie } from 'hono/cookie';
import { errorAnswer } from '../../src/api/error-answer.ts';
import { UserFault } from '../../src/errors.ts';
import { type Log, logError } from '../../src/log.ts';
import type { Clock, Random } from '../../src/ports.ts';
import type { Services } from '../../src/services/services.ts';
import type { UserTokens } from '../../src/user-tokens.ts';
import { isFromThePage, isLocal } from '../../pages/server/local-request.ts';
import { servePage } from '../../pages/server/page-files.ts';
import { safetyHeaders } from '../../pages/server/safety-headers.ts';
import { people, personOf } from '../cast.ts';
import type { SceneAnswer, Standing, TokenAnswer } from '../demo-api.ts';
import { setScene, startOver } from './scene.ts';
import { scriptedEvents } from './scripted-event.ts';
import type { Visitors } from './visitors.ts';

export interface DemoDeps {
  readonly services: Services;
  readonly tokens: UserTokens;
  readonly visitors: Visitors;
  readonly groupThreshold: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Somebody came in by the link, which is used up by that. */
  readonly entered: () => void;
  readonly restart: () => void;
}

type DemoContext = Context<{ Bindings: HttpBindings }>;

const PATH = '/demo';
/** Beside this folder, in the sources and in a build alike. */
const FOLDER = join(import.meta.dirname, '..');
const TOKEN_LIFE_MS = 60 * 60_000;
const ROUND_LENGTH = 8;
/** 500 events of the page, twice. */
const BODY_BYTES_MAX = 256 * 2 ** 10;

export function isDemoPath(url: string | undefined): boolean {
  const [path] = (url ?? '').split('?', 1);
  return path === PATH || path?.startsWith(`${PATH}/`) === true;
}

/** The page under /demo, and under /demo/api the few things that it needs of the server: it never sees an API key. */
export function createDemoListener(deps: DemoDeps): RequestListener {
  const { services, tokens, visitors, clock, random, groupThreshold } = deps;
  const app = new Hono<{ Bindings: HttpBindings }>();

  app.use(async (c, next) => {
    setSafetyHeaders(c);
    if (!isLocal(c.env.incoming)) return refusal(c, 'The demo is only for the machine that the server runs on.');
    const key = c.req.query('key');
    if (key !== undefined) return enter(c, key);
    if (!visitors.isKnown(getCookie(c, cookieName(c)) ?? '')) {
      return refusal(c, 'Open the newest link to the demo that the server has printed; each link works once.');
    }
    if (c.req.method === 'POST' && !isFromThePage(c.env.incoming))
      return refusal(c, 'Only the page itself may do this.');
    return next();
  });

  function enter(c: DemoContext, key: string): Response {
    const session = visitors.enter(key);
    if (session === null) return refusal(c, 'This link has been used. The server has printed a new one.');
    setCookie(c, cookieName(c), session, { path: PATH, httpOnly: true, sameSite: 'Lax' });
    deps.entered();
    // The key goes out of the address bar and the history.
    return c.redirect(PATH, 303);
  }

  servePage(app, PATH, FOLDER);

  const api = new Hono<{ Bindings: HttpBindings }>();
  api.use(bodyLimit({ maxSize: BODY_BYTES_MAX, onError: tooLarge }));
  api.post('/token', async (c) => {
    const user = personOf(String((await jsonOf(c))['user']))?.user;
    if (user === undefined) throw new UserFault('invalid_field', 'user must be one of the demo', 'user');
    const token = await tokens.sign({ user, device: null, expiresAtMs: clock.nowMs() + TOKEN_LIFE_MS });
    return c.json<TokenAnswer>({ token });
  });
  api.post('/events', async (c) => c.json({ results: await services.post.post(scriptedEvents(await jsonOf(c))) }));
  api.post('/scene', async (c) => c.json<SceneAnswer>({ results: await setScene(services, groupThreshold) }));
  api.post('/start-over', async (c) => {
    const results = await startOver(services, groupThreshold, random.token(ROUND_LENGTH));
    return c.json<SceneAnswer>({ results });
  });
  api.get('/standing', async (c) => c.json(await standingOf(services)));
  api.post('/restart', (c) => {
    c.env.outgoing.once('finish', () => clock.soon(deps.restart));
    return c.json({});
  });
  app.route(`${PATH}/api`, api);
  app.onError((error, c) => {
    logError(deps.log, error, 'a request of the demo failed');
    const { status, body } = errorAnswer(error);
    return c.json(body, status as 400);
  });

  const listener = getRequestListener(app.fetch, { hostname: 'localhost' });
  return (request, response) => void listener(request, response);
}

async function standingOf({ reads, reconcile }: Services): Promise<Standing> {
  const users = people.map(({ user }) => user);
  const views = await Promise.all(users.map((user) => reads.view(user)));
  const { wrong } = await reconcile.run({ users });
  return {
    users: views.map(({ user, epoch, syncVersion, total, badge, mentions, digest }) => {
      return { user, epoch, sync_version: syncVersion, total, badge, mentions, digest };
    }),
    wrong,
  };
}

async function jsonOf(c: DemoContext): Promise<Record<string, unknown>> {
  const body: unknown = await c.req.json().catch(() => null);
  if (typeof body === 'object' && body !== null) return body as Record<string, unknown>;
  throw new UserFault('malformed_json', 'the body must be a JSON object');
}

/** Cookies do not know ports: two servers of one machine would overwrite each other's. */
function cookieName(c: DemoContext): string {
  return `tidemark_demo_${c.env.incoming.socket.localPort}`;
}

function setSafetyHeaders(c: DemoContext): void {
  const { host } = c.env.incoming.headers;
  const sockets = /^[\w.:[\]-]+$/.test(host ?? '') ? [`ws://${host}`] : [];
  for (const [name, value] of Object.entries(safetyHeaders(sockets))) c.header(name, value);
}

function refusal(c: DemoContext, why: string): Response {
  return c.text(`${why}\n`, 403);
}

function tooLarge(): never {
  throw new UserFault('too_large', `a body has at most ${BODY_BYTES_MAX} bytes`);
}
