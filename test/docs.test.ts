import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { linesTable } from '../bench/lines-table.ts';
import { closeCodes } from '../protocol/close-codes.ts';
import { type ErrorInfo, errorCodes } from '../protocol/error-codes.ts';
import { settingsTable } from '../src/cli/settings-table.ts';
import { options } from '../src/config-table.ts';
import { METRIC_PREFIX, metricDefinitions } from '../src/metrics.ts';
import { filesOf, ROOT, textOf } from './support/source-tree.ts';

/** What the documentation lists is what the code has, both ways. */
const SPEC = textOf('protocol/SPEC.md');
const OPERATIONS = textOf('docs/OPERATIONS.md');

function namesIn(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].map(([, name = '']) => name))].toSorted();
}

describe('protocol/SPEC.md', () => {
  test('holds the table of error codes', () => {
    const lines = Object.entries<ErrorInfo>(errorCodes).map(
      ([code, { meaning, retry, http }]) => `| ${code} | ${meaning} | ${retry ? 'yes' : 'no'} | ${http ?? ''} |`,
    );
    const [, table] = /^\| code \| meaning \|.*\n.*\n((?:\|.*\n)+)/m.exec(SPEC) ?? [];
    expect(table?.trimEnd().split('\n')).toEqual(lines);
  });

  test('lists the close codes by name, and no others', () => {
    const lines = Object.entries(closeCodes).map(([code, { name }]) => `${code} | ${name}`);
    expect(namesIn(SPEC, /^\| (4\d{3} \| \w+) \|/gm)).toEqual(lines);
  });
});

describe('docs/OPERATIONS.md', () => {
  test('holds the table of settings', () => {
    expect(OPERATIONS).toContain(settingsTable());
  });

  test('lists the metrics, and no others', () => {
    const metrics = Object.keys(metricDefinitions).map((name) => `${METRIC_PREFIX}${name}`);
    expect(namesIn(OPERATIONS, /^\| `(tidemark_[a-z_]+)` \|/gm)).toEqual(metrics.toSorted());
  });
});

describe('bench/README.md', () => {
  test('holds the table of lines', () => {
    expect(textOf('bench/README.md')).toContain(linesTable());
  });
});

describe('all pages', () => {
  const pages = filesOf('*.md', 'docs/**/*.md', 'protocol/**/*.md', 'client/**/*.md', 'demo/**/*.md', 'bench/**/*.md');

  test('name no setting that does not exist', () => {
    // Settings of the test tools, which the product does not read.
    const known = new Set(['TIDEMARK_KIT_DIR', ...Object.values(options).map(({ env }) => env)]);
    const unknown = pages.flatMap((page) => namesIn(textOf(page), /\b(TIDEMARK_[A-Z_]*[A-Z])\b/g));
    expect(unknown.filter((name) => !known.has(name))).toEqual([]);
  });

  test('link to files that exist', () => {
    const broken = pages.flatMap((page) =>
      namesIn(textOf(page), /\]\((?!\w+:)([^)#\s]+)/g)
        .filter((target) => !existsSync(join(ROOT, dirname(page), target)))
        .map((target) => `${page} links to ${target}`),
    );
    expect(broken).toEqual([]);
  });
});
