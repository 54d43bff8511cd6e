import type { ApiContext } from './route.ts';

const PREFLIGHT_SECONDS = '600';
const VARY = 'authorization, origin';

/**
 * What lets a browser page of another origin use the pull fallback. Only origins that are listed, word for word; tokens travel in
 * a header, so there are no cookies that a foreign page could ride on.
 */
export function crossOriginHeaders(c: ApiContext, allowedOrigins: readonly string[]): Record<string, string> {
  const origin = c.env.incoming.headers.origin;
  if (origin === undefined || !allowedOrigins.includes(origin)) return { vary: VARY };
  return {
    vary: VARY,
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'etag, retry-after',
    ...(isPreflight(c)
      ? {
          'access-control-allow-methods': 'GET',
          'access-control-allow-headers': 'authorization, if-none-match',
          'access-control-max-age': PREFLIGHT_SECONDS,
        }
      : {}),
  };
}

export function isPreflight(c: ApiContext): boolean {
  return c.req.method === 'OPTIONS' && c.env.incoming.headers['access-control-request-method'] !== undefined;
}
