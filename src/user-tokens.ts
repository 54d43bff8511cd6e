import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { decodeProtectedHeader, errors, SignJWT, UnsecuredJWT } from 'jose';
import { check, id } from '../protocol/index.ts';
import type { Clock } from './ports.ts';

/**
 * User tokens (docs/OPERATIONS.md): JWT signed with HS256, `sub` = user id and `exp` required; `aud` and `iss` are looked at where
 * configured, `device` where it is there. The algorithm is fixed here and never taken from the token.
 */
interface UserToken {
  readonly user: string;
  /** The only device that may use the token; null: any. */
  readonly device: string | null;
  readonly expiresAtMs: number;
}

/** Expired is told apart from the rest: a client then fetches a new token (4200) instead of giving up (4401). */
export type VerifiedToken =
  | { readonly ok: true; readonly token: UserToken }
  | { readonly ok: false; readonly reason: 'expired' | 'invalid'; readonly message: string };

export interface UserTokens {
  /** Never throws. */
  verify(text: string): Promise<VerifiedToken>;
  sign(token: UserToken): Promise<string>;
}

export interface UserTokenOptions {
  /** The first signs; each verifies, so that secrets can be changed without a gap. */
  readonly secrets: readonly [string, ...string[]];
  /** '' = not looked at. */
  readonly audience: string;
  readonly issuer: string;
  readonly clock: Clock;
}

const ALGORITHM = 'HS256';

/** Claims are judged by jose, as those of a token without a signature: the signature has been judged before. */
const UNSIGNED_HEADER = Buffer.from('{"alg":"none"}').toString('base64url');

export function createUserTokens(options: UserTokenOptions): UserTokens {
  const { audience, issuer, clock } = options;
  const keys = options.secrets.map((secret) => createSecretKey(secret, 'utf8'));
  const expected = {
    requiredClaims: ['sub', 'exp'],
    ...(audience === '' ? {} : { audience }),
    ...(issuer === '' ? {} : { issuer }),
  };

  function verify(text: string): VerifiedToken {
    const { alg, crit } = decodeProtectedHeader(text);
    if (alg !== ALGORITHM) return refuse(`alg must be ${ALGORITHM}`);
    if (crit !== undefined) return refuse('an extension that must be understood is not known');
    if (!keys.some((key) => isSignedWith(key, text))) return refuse('the signature is not valid');
    const claims = text.slice(text.indexOf('.') + 1, text.lastIndexOf('.'));
    const currentDate = new Date(clock.nowMs());
    const { payload } = UnsecuredJWT.decode(`${UNSIGNED_HEADER}.${claims}.`, { ...expected, currentDate });
    const user = check(id, payload.sub);
    if (!user.ok) return refuse(`sub ${user.message}`);
    const device = payload['device'] === undefined ? null : check(id, payload['device']);
    if (device?.ok === false) return refuse(`device ${device.message}`);
    const expiresAtMs = Math.floor((payload.exp ?? 0) * 1000);
    if (!Number.isSafeInteger(expiresAtMs)) return refuse('exp is out of range');
    return { ok: true, token: { user: user.value, device: device?.value ?? null, expiresAtMs } };
  }

  return {
    async verify(text) {
      try {
        return verify(text);
      } catch (error) {
        return refusalOf(error);
      }
    },

    async sign({ user, device, expiresAtMs }) {
      const jwt = new SignJWT(device === null ? {} : { device })
        .setProtectedHeader({ alg: ALGORITHM })
        .setSubject(user)
        .setIssuedAt(new Date(clock.nowMs()))
        .setExpirationTime(Math.floor(expiresAtMs / 1000));
      if (audience !== '') jwt.setAudience(audience);
      if (issuer !== '') jwt.setIssuer(issuer);
      return jwt.sign(keys[0] as KeyObject);
    },
  };
}

/**
 * RFC 7515 §5.2 with HS256, at once: jose has it done by the thread pool of Web Crypto, which makes the whole verification three times as
 * dear (docs/decisions/0060).
 */
function isSignedWith(key: KeyObject, text: string): boolean {
  const end = text.lastIndexOf('.');
  const given = Buffer.from(text.slice(end + 1));
  const due = Buffer.from(createHmac('sha256', key).update(text.slice(0, end)).digest('base64url'));
  return given.length === due.length && timingSafeEqual(given, due);
}

function refusalOf(error: unknown): VerifiedToken {
  if (error instanceof errors.JWTExpired) return { ok: false, reason: 'expired', message: 'the token has expired' };
  // jose says which claim is wrong and never repeats the token.
  return refuse(error instanceof errors.JOSEError ? error.message : 'the token cannot be read');
}

function refuse(message: string): VerifiedToken {
  return { ok: false, reason: 'invalid', message };
}
