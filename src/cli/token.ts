import { check, id } from '../../protocol/index.ts';
import type { Config } from '../config.ts';
import { parseDurationMs } from '../config-option.ts';
import { keptSecret } from '../kept-secret.ts';
import { systemClock, systemRandom } from '../system.ts';
import { createUserTokens, type UserTokens } from '../user-tokens.ts';

/** Makes the secret too when there is none yet, so that a token can be had before the first start of the server. */
export async function mintToken(config: Config, user: string, ttl: string, device: string | null): Promise<string> {
  for (const [what, value] of [
    ['user', user],
    ['device', device],
  ] as const) {
    const checked = value === null ? null : check(id, value);
    if (checked?.ok === false) throw new Error(`${what} ${checked.message}`);
  }
  const tokens = tokensOf(config);
  return tokens.sign({ user, device, expiresAtMs: systemClock.nowMs() + ttlMsOf(ttl) });
}

function ttlMsOf(ttl: string): number {
  try {
    return parseDurationMs(ttl);
  } catch (error) {
    throw new Error(`--ttl must be ${(error as Error).message}`, { cause: error });
  }
}

/** Throws when the token is not valid. */
export async function checkToken(config: Config, text: string): Promise<string> {
  const verified = await tokensOf(config).verify(text);
  if (!verified.ok) throw new Error(`not valid: ${verified.message}`);
  const { user, device, expiresAtMs } = verified.token;
  const on = device === null ? 'on any device' : `on device ${device}`;
  return `valid for user ${user} ${on} until ${new Date(expiresAtMs).toISOString()}`;
}

function tokensOf(config: Config): UserTokens {
  const { tokenSecretPrevious, tokenAudience, tokenIssuer } = config;
  const secret = config.tokenSecret ?? keptSecret(config.dataDir, 'token-secret', systemRandom).value;
  return createUserTokens({
    secrets: tokenSecretPrevious === null ? [secret] : [secret, tokenSecretPrevious],
    audience: tokenAudience,
    issuer: tokenIssuer,
    clock: systemClock,
  });
}
