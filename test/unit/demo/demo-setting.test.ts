import { expect, test } from 'vitest';
import { ConfigError, hasDemo, readConfig } from '../../../src/config.ts';

const MYSQL = { TIDEMARK_MYSQL_URL: 'mysql://user:password@host:3306/database' };
const OPEN = { TIDEMARK_HOST: '0.0.0.0' };

test('auto: there for who tries it out, not in production', () => {
  expect(hasDemo(readConfig({}))).toBe(true);
  expect(hasDemo(readConfig({ TIDEMARK_HOST: '::1' }))).toBe(true);
  expect(hasDemo(readConfig(OPEN))).toBe(false);
  expect(hasDemo(readConfig(MYSQL))).toBe(false);
});

test('on and off are obeyed, and on is refused where others could reach the page', () => {
  expect(hasDemo(readConfig({ TIDEMARK_DEMO: 'off' }))).toBe(false);
  expect(hasDemo(readConfig({ TIDEMARK_DEMO: 'on', ...MYSQL }))).toBe(true);
  expect(() => readConfig({ TIDEMARK_DEMO: 'on', ...OPEN })).toThrow(ConfigError);
});
