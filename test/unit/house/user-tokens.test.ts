import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createUserTokens, type UserTokens } from '../../../src/user-tokens.ts';
import { createHandClock } from '../../support/hand-clock.ts';

const SECRET = 's'.repeat(32);
const clock = createHandClock();
const nowSeconds = clock.nowMs() / 1000;

function tokensWith(options: Partial<Parameters<typeof createUserTokens>[0]> = {}): UserTokens {
  return createUserTokens({ secrets: [SECRET], audience: '', issuer: '', clock, ...options });
}

/** A token as another program would make it. */
function handmade(claims: object, header: object = { alg: 'HS256' }, secret = SECRET): string {
  const parts = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  return signedAsIs(parts, secret);
}

function signedAsIs(parts: readonly string[], secret = SECRET): string {
  const text = parts.join('.');
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

async function outcomeOf(text: string, tokens?: UserTokens): Promise<string> {
  const verified = await (tokens ?? tokensWith()).verify(text);
  return verified.ok ? verified.token.user : verified.reason;
}

describe('user tokens', () => {
  test('what is signed is verified, with user, device and end', async () => {
    const tokens = tokensWith({ audience: 'chat', issuer: 'login' });
    for (const device of [null, 'phone']) {
      const token = { user: 'ålice', device, expiresAtMs: clock.nowMs() + 5000 };
      expect(await tokens.verify(await tokens.sign(token))).toEqual({ ok: true, token });
    }
  });

  test('a plain HS256 token of any maker is enough', async () => {
    const verified = await tokensWith().verify(handmade({ sub: 'u1', exp: nowSeconds + 60 }));
    expect(verified).toEqual({ ok: true, token: { user: 'u1', device: null, expiresAtMs: (nowSeconds + 60) * 1000 } });
  });

  test('expired is told apart from the rest, to the second and without slack', async () => {
    expect(await outcomeOf(handmade({ sub: 'u1', exp: nowSeconds + 1 }))).toBe('u1');
    expect(await outcomeOf(handmade({ sub: 'u1', exp: nowSeconds }))).toBe('expired');
    expect(await outcomeOf(handmade({ sub: 'u1', exp: nowSeconds - 50 }))).toBe('expired');
  });

  test('an expired token with a bad signature is no expired token', async () => {
    expect(await outcomeOf(handmade({ sub: 'u1', exp: nowSeconds - 50 }, { alg: 'HS256' }, 'other'))).toBe('invalid');
  });

  test.each([
    ['nothing', ''],
    ['no token', 'not.a.token'],
    ['four parts', 'a.b.c.d'],
    ['no sub', handmade({ exp: nowSeconds + 60 })],
    ['no exp', handmade({ sub: 'u1' })],
    ['exp in words', handmade({ sub: 'u1', exp: 'tomorrow' })],
    ['exp beyond all numbers', handmade({ sub: 'u1', exp: 1e300 })],
    ['an empty sub', handmade({ sub: '', exp: nowSeconds + 60 })],
    ['a sub of 129 bytes', handmade({ sub: 'x'.repeat(129), exp: nowSeconds + 60 })],
    ['five parts', handmade({ sub: 'u1', exp: nowSeconds + 60 }).replace('.', '.x.y.')],
    ['no signature', handmade({ sub: 'u1', exp: nowSeconds + 60 }).replace(/[^.]*$/, '')],
    ['claims that are no JSON', signedAsIs(['eyJhbGciOiJIUzI1NiJ9', 'e'])],
    [
      'five parts, signed',
      signedAsIs([
        'eyJhbGciOiJIUzI1NiJ9',
        ...handmade({ sub: 'u1', exp: nowSeconds + 60 })
          .split('.')
          .slice(1),
        'x',
      ]),
    ],
    ['a number as sub', handmade({ sub: 7, exp: nowSeconds + 60 })],
    ['a number as device', handmade({ sub: 'u1', exp: nowSeconds + 60, device: 7 })],
    ['not valid yet', handmade({ sub: 'u1', exp: nowSeconds + 60, nbf: nowSeconds + 30 })],
    ['another secret', handmade({ sub: 'u1', exp: nowSeconds + 60 }, { alg: 'HS256' }, 'other')],
    [
      'alg none',
      `${handmade({ sub: 'u1', exp: nowSeconds + 60 }, { alg: 'none' })
        .split('.')
        .slice(0, 2)
        .join('.')}.`,
    ],
    ['alg none, signed', handmade({ sub: 'u1', exp: nowSeconds + 60 }, { alg: 'none' })],
    ['alg HS512', handmade({ sub: 'u1', exp: nowSeconds + 60 }, { alg: 'HS512' })],
    ['alg RS256', handmade({ sub: 'u1', exp: nowSeconds + 60 }, { alg: 'RS256' })],
    ['a critical extension', handmade({ sub: 'u1', exp: nowSeconds + 60 }, { alg: 'HS256', crit: ['x'], x: 1 })],
  ])('%s is refused', async (_, text) => {
    expect(await outcomeOf(text)).toBe('invalid');
  });

  test('a claim changed after signing is refused', async () => {
    const [header, , signature] = handmade({ sub: 'u1', exp: nowSeconds + 60 }).split('.');
    const claims = Buffer.from(JSON.stringify({ sub: 'u2', exp: nowSeconds + 60 })).toString('base64url');
    expect(await outcomeOf([header, claims, signature].join('.'))).toBe('invalid');
  });

  test('audience and issuer are looked at where configured', async () => {
    const tokens = tokensWith({ audience: 'chat', issuer: 'login' });
    const claims = { sub: 'u1', exp: nowSeconds + 60, aud: ['web', 'chat'], iss: 'login' };
    expect(await outcomeOf(handmade(claims), tokens)).toBe('u1');
    for (const wrong of [{ aud: 'other' }, { aud: undefined }, { iss: 'other' }, { iss: undefined }]) {
      expect(await outcomeOf(handmade({ ...claims, ...wrong }), tokens)).toBe('invalid');
    }
    expect(await outcomeOf(handmade(claims))).toBe('u1');
  });

  test('the previous secret verifies, and the present one signs', async () => {
    const tokens = tokensWith({ secrets: ['new'.repeat(12), SECRET] });
    const claims = { sub: 'u1', exp: nowSeconds + 60 };
    expect(await outcomeOf(handmade(claims), tokens)).toBe('u1');
    expect(await outcomeOf(handmade({ ...claims, exp: nowSeconds - 1 }), tokens)).toBe('expired');
    expect(await outcomeOf(handmade(claims, { alg: 'HS256' }, 'third'), tokens)).toBe('invalid');
    const signed = await tokens.sign({ user: 'u1', device: null, expiresAtMs: clock.nowMs() + 5000 });
    expect(await outcomeOf(signed)).toBe('invalid');
    expect(await outcomeOf(signed, tokens)).toBe('u1');
  });
});
