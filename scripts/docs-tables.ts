import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { linesTable } from '../bench/lines-table.ts';
import { settingsTable } from '../src/cli/settings-table.ts';
import { METRIC_PREFIX, type MetricDefinition, metricDefinitions } from '../src/metrics.ts';

/**
 * Writes the tables of docs/OPERATIONS.md and bench/README.md from the code, between their markers: `npm run docs`. A test fails when
 * a page holds others.
 */
const ROOT = resolve(import.meta.dirname, '..');

writeTables('docs/OPERATIONS.md', { settings: settingsTable(), metrics: metricsTable() });
writeTables('bench/README.md', { lines: linesTable() });

function writeTables(file: string, tables: Readonly<Record<string, string>>): void {
  const path = join(ROOT, file);
  let page = readFileSync(path, 'utf8');
  for (const [name, table] of Object.entries(tables)) {
    const between = new RegExp(`(<!-- begin ${name} -->\n)[^]*?(<!-- end ${name} -->)`);
    if (!between.test(page)) throw new Error(`${file} has no place for ${name}`);
    page = page.replace(between, (_, begin: string, end: string) => `${begin}${table}\n${end}`);
  }
  writeFileSync(path, page);
}

function metricsTable(): string {
  const definitions: [string, MetricDefinition][] = Object.entries(metricDefinitions);
  const rows = definitions.map(([name, { kind, labels, help }]) => {
    const shown = labels.length === 0 ? '–' : labels.map((label) => `\`${label}\``).join(', ');
    return `| \`${METRIC_PREFIX}${name}\` | ${kind} | ${shown} | ${help} |`;
  });
  return ['| metric | kind | labels | meaning |', '|---|---|---|---|', ...rows].join('\n');
}
