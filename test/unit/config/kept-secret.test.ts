import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { keptSecret, readSecret } from '../../../src/kept-secret.ts';
import { systemRandom } from '../../../src/system.ts';

let dir: string;
beforeEach(() => {
  dir = join(mkdtempSync(join(tmpdir(), 'tidemark-secret-')), 'data');
});
afterEach(() => rmSync(join(dir, '..'), { recursive: true, force: true }));

test('a secret is made once, with its folder, for the owner alone', () => {
  const first = keptSecret(dir, 'api-key', systemRandom);
  expect(first).toMatchObject({ file: join(dir, 'api-key'), isNew: true });
  expect(first.value).toMatch(/^[0-9a-z]{48}$/);
  expect(statSync(first.file).mode & 0o777).toBe(0o600);
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  expect(keptSecret(dir, 'api-key', systemRandom)).toEqual({ ...first, isNew: false });
  expect(readSecret(dir, 'api-key')).toBe(first.value);
});

test('two secrets are two', () => {
  const values = (['api-key', 'token-secret'] as const).map((name) => keptSecret(dir, name, systemRandom).value);
  expect(new Set(values).size).toBe(2);
});

test('whoever is slower takes the secret of the faster one, and no draft is left', () => {
  const faster = keptSecret(dir, 'api-key', systemRandom);
  rmSync(faster.file);
  // Another process writes its secret between our look and our write.
  const random = {
    ...systemRandom,
    token(length: number) {
      if (!existsSync(faster.file)) writeFileSync(faster.file, 'of the other process\n');
      return systemRandom.token(length);
    },
  };
  expect(keptSecret(dir, 'api-key', random)).toEqual({
    value: 'of the other process',
    file: faster.file,
    isNew: false,
  });
  expect(readdirSync(dir)).toEqual(['api-key']);
});

test('a secret may end without a newline, but not be empty', () => {
  keptSecret(dir, 'api-key', systemRandom);
  writeFileSync(join(dir, 'api-key'), 'by hand');
  expect(readSecret(dir, 'api-key')).toBe('by hand');
  writeFileSync(join(dir, 'api-key'), '\n');
  expect(() => readSecret(dir, 'api-key')).toThrow(/api-key is empty/);
  expect(readFileSync(join(dir, 'api-key'), 'utf8')).toBe('\n');
});
