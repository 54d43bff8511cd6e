import { expect, test } from 'vitest';
import { faultOfNode } from '../../../src/node-version.ts';
import { textOf } from '../../support/source-tree.ts';

test('an older Node is told what is needed and what it is, in one line', () => {
  expect(faultOfNode('20.20.2')).toBe('tidemark needs Node 24 or newer, and this is Node 20.20.2');
  expect(faultOfNode('24.0.0')).toBeNull();
  expect(faultOfNode('100.1.0')).toBeNull();
  const { engines } = JSON.parse(textOf('package.json')) as { engines: { node: string } };
  expect(engines.node).toBe('>=24');
});

test('what is run imports by itself only the look at the Node', () => {
  for (const entry of ['src/main.ts', 'src/cli/tidemark.ts']) {
    const imports = [...textOf(entry).matchAll(/^import .*from '(.+)';$/gm)].map(([, from]) => from);
    expect(imports).toEqual([expect.stringMatching(/\/node-version\.ts$/)]);
  }
  expect(textOf('src/node-version.ts')).not.toMatch(/^import /m);
});
