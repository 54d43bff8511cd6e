import type { ApiContext } from './route.ts';

const PREFLIGHT_SECONDS = '600';
const VARY = 'authorization, origin';

/**
 * What lets a browser page of another origin use the pull fallback. Only origins that are listed, word for word; tokens travel in
 * a header, so there are no cookies that a foreign page could ride on.
 */
export function crossOriginHeaders(c: ApiContext, allowedOrigins: readonly string[]): Record<string, string> {
  const origin = listedOrigin(c, allowedOrigins);
  if (origin === null) return { vary: VARY };
  return {
    vary: VARY,
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'etag, retry-after',
  };
}

/** The answer to a browser that asks beforehand; null for anybody else, and for origins that are not listed. */
export function preflightHeaders(c: ApiContext, allowedOrigins: readonly string[]): Record<string, string> | null {
  const isAsked = c.env.incoming.headers['access-control-request-method'] !== undefined;
  if (!isAsked || listedOrigin(c, allowedOrigins) === null) return null;
  return {
    ...crossOriginHeaders(c, allowedOrigins),
    'access-control-allow-methods': 'GET',
    'access-control-allow-headers': 'authorization, if-none-match',
    'access-control-max-age': PREFLIGHT_SECONDS,
  };
}

function listedOrigin(c: ApiContext, allowedOrigins: readonly string[]): string | null {
  const origin = c.env.incoming.headers.origin;
  return origin !== undefined && allowedOrigins.includes(origin) ? origin : null;
}
