import type { UserTokens, VerifiedToken } from '../user-tokens.ts';

type UserToken = Extract<VerifiedToken, { ok: true }>['token'];

/** How a socket ends whose token does not do: expired is told apart, since a new token is then all that is needed. */
export type TokenFault = 4200 | 4401;

/** Null where any will do. */
export interface TokenBearer {
  readonly user: string | null;
  readonly device: string;
}

/** Verifies the token and that it is for this bearer. */
export async function checkToken(
  verify: UserTokens['verify'],
  text: string,
  { user, device }: TokenBearer,
): Promise<UserToken | TokenFault> {
  const verdict = await verify(text);
  if (!verdict.ok) return verdict.reason === 'expired' ? 4200 : 4401;
  const { token } = verdict;
  const isForBearer = (user === null || token.user === user) && (token.device === null || token.device === device);
  return isForBearer ? token : 4401;
}
