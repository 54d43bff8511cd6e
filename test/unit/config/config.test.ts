import { describe, expect, test } from 'vitest';
import { parseDurationMs } from '../../../src/config-option.ts';
import { options } from '../../../src/config-table.ts';
import { ConfigError, readConfig, weakKeys } from '../../../src/config.ts';

const LONG_KEY = 'k'.repeat(32);

function faultsOf(environment: Record<string, string>): readonly string[] {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

describe('defaults', () => {
  const config = readConfig({});

  test('run on this machine alone, without any service or secret', () => {
    expect(config).toMatchObject({ host: '127.0.0.1', port: 8080, dataDir: 'data', apiKey: null, tokenSecret: null });
  });

  test('cannot be changed once read', () => {
    expect(Object.isFrozen(config)).toBe(true);
  });

  test('are what an empty variable means', () => {
    expect(readConfig({ TIDEMARK_PORT: '', TIDEMARK_API_KEY: '' })).toEqual(config);
  });

  test('lie within what their own setting allows', () => {
    const given = Object.values(options).filter((option) => option.shown !== '');
    const texts = Object.fromEntries(given.map(({ env, shown }) => [env, shown]));
    expect(readConfig(texts)).toEqual(config);
  });

  test('other variables are nobody’s business here', () => {
    expect(readConfig({ PATH: '/bin', HOME: '/root', TIDE: '1' })).toEqual(config);
  });
});

describe('values', () => {
  test.each([
    ['TIDEMARK_PORT', '0', 'port', 0],
    ['TIDEMARK_HEARTBEAT_MS', '500', 'heartbeatMs', 500],
    ['TIDEMARK_HEARTBEAT_MS', '5s', 'heartbeatMs', 5000],
    ['TIDEMARK_EVENT_ID_RETENTION_MS', '2d', 'eventIdRetentionMs', 172_800_000],
    ['TIDEMARK_RECONCILE_INTERVAL_MS', '0', 'reconcileIntervalMs', 0],
    [
      'TIDEMARK_ALLOWED_ORIGINS',
      'https://a.example http://b.example:81',
      'allowedOrigins',
      ['https://a.example', 'http://b.example:81'],
    ],
    ['TIDEMARK_LOG_LEVEL', 'silent', 'logLevel', 'silent'],
    ['TIDEMARK_METRICS_OPEN', 'true', 'metricsOpen', true],
  ] as const)('%s=%s', (env, given, key, expected) => {
    expect(readConfig({ [env]: given })[key]).toEqual(expected);
  });

  test('times take a unit', () => {
    expect(['7', '7ms', '7s', '7m', '7h', '7d'].map(parseDurationMs)).toEqual([7, 7, 7e3, 42e4, 252e5, 6048e5]);
    for (const wrong of ['', '-1', '1.5s', '1w', 's', '1 s', '99999999999999']) {
      expect(() => parseDurationMs(wrong)).toThrow(/a time in ms/);
    }
  });
});

describe('faults', () => {
  test.each([
    ['TIDEMARK_PORT', '65536', 'TIDEMARK_PORT must be an integer from 0 to 65535, not "65536"'],
    ['TIDEMARK_PORT', '80a', 'TIDEMARK_PORT must be an integer from 0 to 65535, not "80a"'],
    ['TIDEMARK_PORT', '-1', 'TIDEMARK_PORT must be an integer from 0 to 65535, not "-1"'],
    ['TIDEMARK_PORT', '1e3', 'TIDEMARK_PORT must be an integer from 0 to 65535, not "1e3"'],
    ['TIDEMARK_HEARTBEAT_MS', '10', 'TIDEMARK_HEARTBEAT_MS must be a time from 50 to 3600000 ms, not "10"'],
    ['TIDEMARK_HOST', ' ', 'TIDEMARK_HOST must be more than blanks, not " "'],
    ['TIDEMARK_METRICS_OPEN', 'yes', 'TIDEMARK_METRICS_OPEN must be true or false, not "yes"'],
    [
      'TIDEMARK_ALLOWED_ORIGINS',
      '*',
      'TIDEMARK_ALLOWED_ORIGINS must be a list of origins like https://chat.example.com:8443, not "*"',
    ],
    [
      'TIDEMARK_ALLOWED_ORIGINS',
      'https://a.example/',
      'TIDEMARK_ALLOWED_ORIGINS must be a list of origins like https://chat.example.com:8443, not "https://a.example/"',
    ],
    ['TIDEMARK_API_KEY', ' secret', 'TIDEMARK_API_KEY must be without blanks at its ends'],
    ['TIDEMARK_MYSQL_URL', 'db', 'TIDEMARK_MYSQL_URL must be like mysql://user:password@host:3306/database'],
    ['TIDEMARK_MYSQL_URL', 'mysql://db', 'TIDEMARK_MYSQL_URL must be like mysql://user:password@host:3306/database'],
    ['TIDEMARK_MYSQL_URL', 'redis://db/x', 'TIDEMARK_MYSQL_URL must be like mysql://user:password@host:3306/database'],
    ['TIDEMARK_REDIS_URL', 'redis://db', 'TIDEMARK_REDIS_URL is set without TIDEMARK_MYSQL_URL; they go together'],
    [
      'TIDEMARK_STREAM_PREFIX',
      'chat',
      'TIDEMARK_STREAM_PREFIX is set, but neither TIDEMARK_STREAM_URL nor TIDEMARK_REDIS_URL',
    ],
    ['TIDEMARK_STREAM_PARTITIONS', '0', 'TIDEMARK_STREAM_PARTITIONS must be an integer from 1 to 256, not "0"'],
    ['TIDEMARK_PRT', '1', 'TIDEMARK_PRT is no setting; did you mean TIDEMARK_PORT?'],
    ['TIDEMARK_GROUP_TRESHOLD', '1', 'TIDEMARK_GROUP_TRESHOLD is no setting; did you mean TIDEMARK_GROUP_THRESHOLD?'],
    ['TIDEMARK_SOMETHING_ELSE', '1', 'TIDEMARK_SOMETHING_ELSE is no setting'],
    ['TIDEMARK_FOO', '1', 'TIDEMARK_FOO is no setting'],
  ])('%s=%s', (env, given, fault) => {
    expect(faultsOf({ [env]: given })).toEqual([fault]);
  });

  test.each(['chat{1}', 'a b', 'x'.repeat(65)])('a prefix of streams that would not do: %s', (prefix) => {
    expect(faultsOf({ TIDEMARK_STREAM_PREFIX: prefix, TIDEMARK_STREAM_URL: 'redis://streams' })).toEqual([
      'TIDEMARK_STREAM_PREFIX must be up to 64 letters, digits, and . : _ -',
    ]);
    expect(faultsOf({ TIDEMARK_STREAM_URL: 'http://streams' })).toEqual([
      'TIDEMARK_STREAM_URL has no URL of Redis (redis://, redis+sentinel:// or redis+cluster://)',
    ]);
  });

  test('are reported all at once, with the page that lists the settings', () => {
    const environment = { TIDEMARK_PORT: 'x', TIDEMARK_LOG_LEVEL: 'loud', TIDEMARK_POST: '1' };
    expect(faultsOf(environment)).toHaveLength(3);
    expect(() => readConfig(environment)).toThrow(
      /TIDEMARK_PORT[^]*TIDEMARK_LOG_LEVEL[^]*TIDEMARK_POST[^]*docs\/OPERATIONS.md/,
    );
  });

  test('never repeat a secret', () => {
    expect(faultsOf({ TIDEMARK_TOKEN_SECRET: 'hush hush ' }).join()).not.toContain('hush');
  });
});

describe('keys that can be guessed', () => {
  test('are only named while nobody else can reach the server', () => {
    for (const host of ['127.0.0.1', '127.9.9.9', 'localhost', '::1']) {
      const config = readConfig({ TIDEMARK_HOST: host, TIDEMARK_API_KEY: 'short', TIDEMARK_TOKEN_SECRET: LONG_KEY });
      expect(weakKeys(config)).toEqual(['TIDEMARK_API_KEY']);
    }
  });

  test('keep the server from starting where others can reach it', () => {
    for (const host of ['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.example.com']) {
      const faults = faultsOf({
        TIDEMARK_HOST: host,
        TIDEMARK_API_KEY: 'short',
        TIDEMARK_TOKEN_SECRET: 'k'.repeat(31),
      });
      expect(faults).toHaveLength(2);
      expect(faults[0]).toMatch(/^TIDEMARK_API_KEY must have at least 32 bytes/);
    }
    expect(faultsOf({ TIDEMARK_HOST: '0.0.0.0', TIDEMARK_API_KEY: LONG_KEY, TIDEMARK_TOKEN_SECRET: LONG_KEY })).toEqual(
      [],
    );
  });
});
