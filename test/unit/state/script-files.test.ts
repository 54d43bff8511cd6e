import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readScript, scripts } from '../../../src/state/redis/script-files.ts';
import { filesOf } from '../../support/source-tree.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const FOLDER = 'src/state/redis/scripts';
const CONTRACT = {
  Purpose: 'something',
  KEYS: 'partition, user',
  ARGV: 'fence, ...names',
  Returns: '1',
  Invariant: 'none',
};
const BODY = `--@include part
local partition, user = KEYS[1], KEYS[2]
local fence = ARGV[1]
return #ARGV`;

function read(contract: Record<string, string>, body = BODY) {
  const folder = tempFolder();
  mkdirSync(join(folder, 'fragments'));
  writeFileSync(join(folder, 'fragments/part.lua'), 'local included = true\n');
  const lines = Object.entries(contract).map(([name, text]) => `  ${`${name}:`.padEnd(10)} ${text}`);
  writeFileSync(join(folder, 'one.lua'), `--[[\n${lines.join('\n')}\n]]\n${body}\n`);
  return readScript('one', folder);
}

describe('scripts', () => {
  test('are all loaded, and every fragment is part of one', () => {
    const files = filesOf(`${FOLDER}/*.lua`).map((file) => file.slice(FOLDER.length + 1, -'.lua'.length));
    expect(
      Object.values(scripts)
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(files);
    const included = new Set(Object.values(scripts).flatMap(({ fragments }) => fragments));
    const fragments = filesOf(`${FOLDER}/fragments/*.lua`).map((file) =>
      file.split('/').at(-1)!.slice(0, -'.lua'.length),
    );
    expect([...included].toSorted()).toEqual(fragments);
  });

  test('are what their contract says, with what they include in its place', () => {
    const { text, keys, args } = read(CONTRACT);
    expect(keys).toEqual({ names: ['partition', 'user'], isOpen: false });
    expect(args).toEqual({ names: ['fence'], isOpen: true });
    expect(text).toContain('local included = true');
    expect(text).not.toContain('--@include');
  });

  test.each([
    ['without a Purpose', { ...CONTRACT, Purpose: '' }, BODY, /does not say what its Purpose is/],
    [
      'with a name bound to another place',
      { ...CONTRACT, KEYS: 'user, partition' },
      BODY,
      /does not bind KEYS\[1\] to user/,
    ],
    [
      'with a name bound to none',
      { ...CONTRACT, ARGV: 'fence, since, ...names' },
      BODY,
      /does not bind ARGV\[2\] to since/,
    ],
    ['that uses more than it names', { ...CONTRACT, KEYS: 'partition' }, BODY, /uses more of KEYS than it says/],
    ['that uses as a list what is none', { ...CONTRACT, ARGV: 'fence' }, BODY, /uses ARGV as a list/],
  ])('%s are refused', (_, contract, body, reason) => {
    expect(() => read(contract, body)).toThrow(reason);
  });

  test('without a contract are refused', () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'one.lua'), BODY);
    expect(() => readScript('one', folder)).toThrow(/does not begin with its contract/);
  });
});
