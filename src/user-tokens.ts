import { errors, jwtVerify, SignJWT } from 'jose';
import { check, id } from '../protocol/index.ts';
import type { Clock } from './ports.ts';

/**
 * User tokens (CONTRACT §8): JWT signed with HS256, `sub` = user id and `exp` required; `aud` and `iss` are looked at where
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

export async function createUserTokens(options: UserTokenOptions): Promise<UserTokens> {
  const { audience, issuer, clock } = options;
  const keys = await Promise.all(options.secrets.map(keyOf));
  const expected = {
    algorithms: [ALGORITHM],
    requiredClaims: ['sub', 'exp'],
    ...(audience === '' ? {} : { audience }),
    ...(issuer === '' ? {} : { issuer }),
  };

  async function verifyWith(key: CryptoKey, text: string): Promise<VerifiedToken> {
    const { payload } = await jwtVerify(text, key, { ...expected, currentDate: new Date(clock.nowMs()) });
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
      for (const [i, key] of keys.entries()) {
        try {
          return await verifyWith(key, text);
        } catch (error) {
          const isOtherSecret = error instanceof errors.JWSSignatureVerificationFailed && i < keys.length - 1;
          if (!isOtherSecret) return refusalOf(error);
        }
      }
      return refuse('the signature is not valid');
    },

    async sign({ user, device, expiresAtMs }) {
      const jwt = new SignJWT(device === null ? {} : { device })
        .setProtectedHeader({ alg: ALGORITHM })
        .setSubject(user)
        .setIssuedAt(new Date(clock.nowMs()))
        .setExpirationTime(Math.floor(expiresAtMs / 1000));
      if (audience !== '') jwt.setAudience(audience);
      if (issuer !== '') jwt.setIssuer(issuer);
      return jwt.sign(keys[0] as CryptoKey);
    },
  };
}

function keyOf(secret: string): Promise<CryptoKey> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  return crypto.subtle.importKey('raw', new TextEncoder().encode(secret), algorithm, false, ['sign', 'verify']);
}

function refusalOf(error: unknown): VerifiedToken {
  if (error instanceof errors.JWTExpired) return { ok: false, reason: 'expired', message: 'the token has expired' };
  // jose says which part is wrong and never repeats the token.
  return refuse(error instanceof errors.JOSEError ? error.message : 'the token cannot be read');
}

function refuse(message: string): VerifiedToken {
  return { ok: false, reason: 'invalid', message };
}
