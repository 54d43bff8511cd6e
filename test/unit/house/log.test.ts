import { describe, expect, test } from 'vitest';
import { Bug, codeOf, Unavailable, UserFault } from '../../../src/errors.ts';
import { createLog, logError, type LogLevel } from '../../../src/log.ts';

function logged(
  write: (log: ReturnType<typeof createLog>) => void,
  level: LogLevel = 'trace',
): Record<string, unknown>[] {
  const lines: string[] = [];
  write(createLog(level, { write: (line) => void lines.push(line) }));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('a line of the log', () => {
  test('is one JSON object with level, time and message', () => {
    const [line] = logged((log) => log.info({ url: 'http://127.0.0.1:1' }, 'ready'));
    expect(line).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      url: 'http://127.0.0.1:1',
      msg: 'ready',
    });
  });

  test('is left out below the level, but for whoever insists', () => {
    const write = (log: ReturnType<typeof createLog>): void => {
      log.info('quiet');
      log.child({}, { level: 'info' }).info('ready');
    };
    expect(logged(write, 'silent').map(({ msg }) => msg)).toEqual(['ready']);
  });

  test('never holds a key or a token, wherever it stands', () => {
    const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl';
    const lines = logged((log) => {
      log.info({ token, apiKey: 'planted', tokenSecret: 'planted', secret: 'planted', authorization: 'planted' });
      log.info({ req: { headers: { authorization: 'Bearer planted', cookie: 'planted' }, token: 'planted' } });
      log.info({ url: `/v1/ws?token=${token}` }, `refused ${token}`);
      log.error({ err: new Error(`bad token ${token}`, { cause: new Error('Authorization: Bearer planted') }) });
    });
    const text = JSON.stringify(lines);
    expect(lines).toHaveLength(4);
    expect(text).not.toContain('planted');
    expect(text).not.toContain('eyJ');
  });
});

describe('errors', () => {
  test.each(['truth is away', 'truth is away: connect ECONNREFUSED'])('say the reason once: %s', (message) => {
    const cause = new Error('connect ECONNREFUSED');
    const [line] = logged((log) => log.error({ err: new Error(message, { cause }) }));
    expect(line).toMatchObject({ err: { type: 'Error', message: 'truth is away: connect ECONNREFUSED' } });
    expect(JSON.stringify(line)).toContain('caused by: Error: connect ECONNREFUSED');
  });

  test.each([
    [new UserFault('invalid_field', 'seq must be an integer', 'seq'), 'debug', 'invalid_field'],
    [new Unavailable('truth is away', 1500), 'warn', 'unavailable'],
    [new Unavailable('too many', 1500, 'rate_limited'), 'warn', 'rate_limited'],
    [new Bug('total is not the sum'), 'error', 'internal'],
    [new TypeError('x is not a function'), 'error', 'internal'],
    ['thrown text', 'error', 'internal'],
  ])('%s is logged as %s and answered as %s', (error, level, code) => {
    expect(logged((log) => logError(log, error, 'it failed'))).toMatchObject([{ level, msg: 'it failed' }]);
    expect(codeOf(error)).toBe(code);
  });
});
