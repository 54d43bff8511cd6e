import { expect, test } from 'vitest';
import { createTokenSource } from '../../../client/token-source.ts';
import type { GetToken } from '../../../client/token-source.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

function source(getToken?: GetToken, random = 0.5) {
  const clock = new VirtualClock();
  const asked: string[] = [];
  const renewed: string[] = [];
  const faults: unknown[] = [];
  const tokens = createTokenSource(
    (request) => {
      asked.push(request.reason);
      return getToken ? getToken(request) : `token ${asked.length}`;
    },
    clock,
    () => random,
    { renewed: (token) => renewed.push(token), fault: (error) => faults.push(error) },
  );
  return { clock, asked, renewed, faults, tokens };
}

test('a token is asked for once and used until it ends', async () => {
  const { clock, asked, tokens } = source();
  const both = await Promise.all([tokens.forConnection(), tokens.forConnection()]);
  expect(both).toEqual(['token 1', 'token 1']);
  tokens.lasts(clock.nowMs() + 60_000);
  tokens.stop();
  await clock.pass(59_999);
  expect(await tokens.forConnection()).toBe('token 1');
  await clock.pass(1);
  expect(await tokens.forConnection()).toBe('token 2');
  expect(asked).toEqual(['connect', 'expired']);
});

test('it is renewed at 80 % of its life, give or take 10 %', async () => {
  for (const [random, part] of [
    [0, 0.72],
    [0.5, 0.8],
    [1, 0.88],
  ] as const) {
    const { clock, asked, renewed, tokens } = source(undefined, random);
    await tokens.forConnection();
    tokens.lasts(clock.nowMs() + 100_000);
    await clock.pass(part * 100_000 - 2);
    expect(asked).toEqual(['connect']);
    await clock.pass(3);
    expect(asked).toEqual(['connect', 'refresh']);
    expect(renewed).toEqual(['token 2']);
  }
});

test('a clock an hour ahead does not ask for a token again and again', async () => {
  const { clock, asked, tokens } = source();
  await tokens.forConnection();
  const lastsTo = () => tokens.lasts(clock.nowMs() - 1_000);
  lastsTo();
  for (let minute = 0; minute < 60; minute++) {
    const before = asked.length;
    await clock.pass(60_000);
    if (asked.length > before) lastsTo();
  }
  expect(asked.length).toBeLessThan(20);
});

test('a life of a month does not overflow a timer', async () => {
  const { clock, asked, tokens } = source();
  await tokens.forConnection();
  tokens.lasts(clock.nowMs() + 30 * 86_400_000);
  await clock.pass(86_400_000);
  expect(asked).toEqual(['connect']);
});

test('a refresh that fails is tried again later and later; the socket is left alone', async () => {
  const { clock, asked, renewed, faults, tokens } = source(({ reason }) => {
    if (reason === 'refresh') throw new Error('the service is away');
    return 'a token';
  });
  await tokens.forConnection();
  tokens.lasts(clock.nowMs() + 10_000);
  await clock.pass(120_000);
  expect(asked.length).toBeGreaterThan(3);
  expect(asked.length).toBeLessThan(10);
  expect(renewed).toEqual([]);
  expect(faults[0]).toMatchObject({ code: 'token', cause: new Error('the service is away') });
  tokens.close();
  const before = asked.length;
  await clock.pass(3_600_000);
  expect(asked.length).toBe(before);
});

test('a callback that never answers is given up, and asked again', async () => {
  const { clock, asked, tokens } = source(() => new Promise<string>(() => {}));
  const first = tokens.forConnection().catch((error: unknown) => error);
  await clock.pass(30_000);
  expect(await first).toMatchObject({ code: 'token', cause: new Error('getToken is late') });
  void tokens.forConnection();
  await clock.pass(0);
  expect(asked).toEqual(['connect', 'connect']);
  tokens.close();
});

test('two new tokens refused in a row: none will be taken; one that had lasted does not count', async () => {
  const { clock, tokens } = source();
  await tokens.forConnection();
  tokens.lasts(clock.nowMs() + 60_000);
  expect(tokens.refused()).toBe(true);
  await tokens.forConnection();
  expect(tokens.refused()).toBe(true);
  await tokens.forConnection();
  expect(tokens.refused()).toBe(false);
  tokens.forget();
  await tokens.forConnection();
  expect(tokens.refused()).toBe(true);
  tokens.close();
});
