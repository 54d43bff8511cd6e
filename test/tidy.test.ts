import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PLANTED_FAULTS } from '../scripts/planted-faults.ts';
import { BORDERS, borderOf, liesIn, NEVER_IMPORTED } from './support/borders.ts';
import { filesOf, importsOf, lineCountOf, ROOT, textOf } from './support/source-tree.ts';

/** Checks of the repository itself: what no compiler sees, and what a reviewer would otherwise have to see each time. */
const SOURCE = filesOf(
  '{protocol,client,src,demo,inspector,pages,examples,scripts,bench,loadtest,test}/**/*.{ts,tsx,mjs,lua,sql}',
  '*.ts',
);
const PRODUCT = SOURCE.filter((file) => /^(protocol|client|src|demo|inspector|pages)\//.test(file));
const RULE_ID = /[A-Z]{2}\d+/g;

describe('import borders', () => {
  test('every file of the product lies in a room of the table', () => {
    expect(PRODUCT.filter((file) => /\.tsx?$/.test(file) && borderOf(file) === undefined)).toEqual([]);
  });

  test('no file imports what its room may not', () => {
    const broken = SOURCE.flatMap((file) => {
      const border = borderOf(file);
      if (border === undefined) return [];
      return importsOf(file)
        .filter(({ what }) => !border.may.some((allowed) => liesIn(what, allowed)))
        .map(({ what }) => `${file} imports ${what}`);
    });
    expect(broken).toEqual([]);
  });

  test('rooms of types import nothing that runs', () => {
    const rooms = BORDERS.filter(({ typesOnly }) => typesOnly === true).map(({ room }) => room);
    const files = SOURCE.filter((file) => rooms.some((room) => liesIn(file, room)));
    const running = files.filter((file) => importsOf(file).some(({ typeOnly }) => !typeOnly));
    expect(running).toEqual([]);
  });

  test('nothing but tests imports test/', () => {
    const users = SOURCE.filter((file) => !liesIn(file, NEVER_IMPORTED));
    const broken = users.filter((file) => importsOf(file).some(({ what }) => liesIn(what, NEVER_IMPORTED)));
    expect(broken).toEqual([]);
  });
});

describe('rules', () => {
  const defined = new Set(
    [...textOf('protocol/SPEC.md').matchAll(/^[-*#|>\s]*\**\[?([A-Z]{2}\d+)\b/gm)].map(([, id = '']) => id),
  );
  const titles = filesOf('test/**/*.ts').flatMap((file) =>
    [...textOf(file).matchAll(/['"`](?:\[[A-Z]{2}\d+\])+/g)].map(([title]) => title),
  );
  const tested = new Set(titles.flatMap((title) => title.match(RULE_ID) ?? []));

  test('protocol/SPEC.md defines rules', () => {
    expect(defined.size).toBeGreaterThan(40);
  });

  test('every rule of protocol/SPEC.md stands in the title of a test', () => {
    expect([...defined].filter((id) => !tested.has(id))).toEqual([]);
  });

  test('every rule that a test title names is one of protocol/SPEC.md', () => {
    expect([...tested].filter((id) => !defined.has(id))).toEqual([]);
  });
});

describe('time, chance and environment are passed in', () => {
  const code = (file: string): string => textOf(file).replaceAll(/\/\*[^]*?\*\/|\/\/.*$/gm, '');
  const having = (pattern: RegExp, files: string[]): string[] => files.filter((file) => pattern.test(code(file)));
  const inRoom = (room: string): string[] => PRODUCT.filter((file) => liesIn(file, room));

  test('only src/config.ts sees the process environment', () => {
    expect(having(/\bprocess\.env\b/, PRODUCT)).toEqual(['src/config.ts']);
  });

  test('src/core has no clock, no chance and does not wait', () => {
    const impure = /\bDate\b|\bperformance\.|\bMath\.random\b|\bcrypto\b|\bset(Timeout|Interval|Immediate)\b|\bawait\b/;
    expect(having(impure, inRoom('src/core'))).toEqual([]);
  });

  test('src/services take time and chance from the ports', () => {
    const impure = /\bDate\.now\b|\bnew Date\(\)|\bperformance\.|\bMath\.random\b|\bset(Timeout|Interval)\b/;
    expect(having(impure, inRoom('src/services'))).toEqual([]);
  });
});

describe('files', () => {
  test('none is longer than 400 lines', () => {
    expect(SOURCE.filter((file) => lineCountOf(file) > 400)).toEqual([]);
  });

  test('each is named after what it holds, in kebab-case', () => {
    const unclear = /^(utils?|helpers?|types|common|misc|shared)\./;
    const kebab = /^[a-z0-9]+([-.][a-z0-9]+)*$|^\d{4}_[a-z0-9_]+\.sql$/;
    const names = SOURCE.filter((file) => unclear.test(basename(file)) || !kebab.test(basename(file)));
    expect(names).toEqual([]);
  });

  test('the only barrels are the public surfaces', () => {
    const barrels = SOURCE.filter((file) => basename(file) === 'index.ts');
    expect(barrels.filter((file) => !/^(protocol|client)\/index\.ts$/.test(file))).toEqual([]);
  });

  test('nothing is left over', () => {
    const leftOver = [
      /\b(?:test|it|describe)\.(?:only|skip|todo|fails)\b/,
      /\bFIXM[E]\b|\bXX[X]\b/,
      /@ts-(?:ignore|nocheck|expect-error)/,
      /(?:eslint|oxlint)-disable/,
      /\bexpect\(true\)/,
      /\bdebugger\b/,
    ];
    const self = 'test/tidy.test.ts';
    const found = SOURCE.filter((file) => file !== self && leftOver.some((pattern) => pattern.test(textOf(file))));
    expect(found).toEqual([]);
  });
});

describe('house', () => {
  test('CHANGELOG.md begins with what is pending, then lists versions', () => {
    const [first, ...others] = [...textOf('CHANGELOG.md').matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(first).toBe('Pending');
    expect(others.filter((heading) => !/^\d+\.\d+\.\d+ \(\d{4}-\d{2}-\d{2}\)$/.test(heading ?? ''))).toEqual([]);
  });

  test('every script of package.json runs something that exists', () => {
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
    const missing = Object.entries(scripts).filter(([, line]) =>
      line.split('&&').some((command) => {
        const [tool = '', ...args] = command
          .trim()
          .replace(/^exec /, '')
          .split(/\s+/);
        const files = args.filter((arg) => /\.(ts|json)$/.test(arg));
        return (
          !existsSync(join(ROOT, 'node_modules/.bin', tool)) || files.some((file) => !existsSync(join(ROOT, file)))
        );
      }),
    );
    expect(missing).toEqual([]);
  });

  test('every planted fault still finds its place', () => {
    const lost = PLANTED_FAULTS.filter(({ file, find }) => textOf(file).split(find).length !== 2);
    expect(lost.map(({ rule, name }) => `${rule} ${name}`)).toEqual([]);
  });

  test('every planted fault names tests that are there', () => {
    const lost = PLANTED_FAULTS.filter(
      ({ tests = [], title = '' }) => tests.length > 0 && !tests.some((file) => textOf(file).includes(title)),
    );
    expect(lost.map(({ rule, name }) => `${rule} ${name}`)).toEqual([]);
  });
});
