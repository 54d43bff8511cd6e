import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { isLocal } from '../../pages/server/local-request.ts';
import { servePage } from '../../pages/server/page-files.ts';
import { safetyHeaders } from '../../pages/server/safety-headers.ts';
import type { FrontParts } from '../../src/app.ts';
import type { Config } from '../../src/config.ts';

const PATH = '/inspect';
/** Beside this folder, in the sources and in a build alike. */
const FOLDER = join(import.meta.dirname, '..');

/** Puts the page in front of the API. It holds nothing: all that it shows it asks the API for, with the key that somebody types in. */
export function createInspectorFront(access: Config['inspector']): (parts: FrontParts) => RequestListener {
  if (access === 'off') return ({ api }) => api;
  const page = createPageListener(access);
  return ({ api }) =>
    (request, response) =>
      (isInspectorPath(request.url) ? page : api)(request, response);
}

function isInspectorPath(url: string | undefined): boolean {
  const [path] = (url ?? '').split('?', 1);
  return path === PATH || path?.startsWith(`${PATH}/`) === true;
}

function createPageListener(access: 'loopback' | 'on'): RequestListener {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.use(async (c, next) => {
    for (const [name, value] of Object.entries(safetyHeaders())) c.header(name, value);
    if (access === 'loopback' && !isLocal(c.env.incoming)) {
      return c.text('The inspector is for the machine that the server runs on (TIDEMARK_INSPECTOR).\n', 403);
    }
    return next();
  });
  servePage(app, PATH, FOLDER);
  const listener = getRequestListener(app.fetch, { hostname: 'localhost' });
  return (request, response) => void listener(request, response);
}
