import { describe, expect, test } from 'vitest';
import { parseRedisUrl } from '../../../src/state/redis/redis-url.ts';

const PLAIN = {
  isTls: false,
  username: undefined,
  password: undefined,
  db: 0,
  masterName: '',
  sentinelPassword: undefined,
};

describe('URLs of Redis', () => {
  test.each([
    ['redis://db', { kind: 'single', endpoints: [{ host: 'db', port: 6379 }] }],
    ['redis://db:7000/3', { kind: 'single', endpoints: [{ host: 'db', port: 7000 }], db: 3 }],
    ['redis://:p%40ss@db', { kind: 'single', endpoints: [{ host: 'db', port: 6379 }], password: 'p@ss' }],
    ['redis://me:a:b@db', { kind: 'single', endpoints: [{ host: 'db', port: 6379 }], username: 'me', password: 'a:b' }],
    ['rediss://[::1]:7000', { kind: 'single', endpoints: [{ host: '::1', port: 7000 }], isTls: true }],
    [
      'redis+sentinel://a,b:5000/main/2?sentinelPassword=x%20y',
      {
        kind: 'sentinel',
        endpoints: [
          { host: 'a', port: 26_379 },
          { host: 'b', port: 5000 },
        ],
        masterName: 'main',
        db: 2,
        sentinelPassword: 'x y',
      },
    ],
    [
      'rediss+cluster://me:p@a:1,b',
      {
        kind: 'cluster',
        endpoints: [
          { host: 'a', port: 1 },
          { host: 'b', port: 6379 },
        ],
        isTls: true,
        username: 'me',
        password: 'p',
      },
    ],
  ])('%s', (text, expected) => {
    expect(parseRedisUrl(text)).toEqual({ ...PLAIN, ...expected });
  });

  test.each([
    ['mysql://db/x', /no URL of Redis/],
    ['redis://', /no URL of Redis/],
    ['redis://a,b', /several hosts/],
    ['redis://a:99999', /a host that cannot be read/],
    ['redis://a:x', /a host that cannot be read/],
    ['redis://a/b', /no number of a database/],
    ['redis+sentinel://a', /no name of the master/],
    ['redis+cluster://a/1', /no numbered databases/],
  ])('%s is refused', (text, reason) => {
    expect(() => parseRedisUrl(text)).toThrow(reason);
  });

  test('a fault shows nothing of the password', () => {
    expect(() => parseRedisUrl('redis://me:secret@a:x')).toThrow(/^(?!.*secret)/);
  });
});
