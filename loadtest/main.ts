/**
 * npm run loadtest -- SCENARIO [--seconds N] [--rate N] [--connections N] [--seed N] [--json FILE]
 *                     [--url URL … --api-key K --token-secret S]
 *
 * Plays people with devices against running gateways, or against a server that it starts itself, and says how long things took.
 * loadtest/README.md: the scenarios, and how to read the figures.
 * Exit 0: every number on every device was right. 1: something was wrong (the first ten are named). 2: it could not be run.
 */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { Casting } from './cast.ts';
import type { Quantiles } from './histogram.ts';
import { circumstances } from './machine.ts';
import { type Options, readOptions } from './options.ts';
import { randomOf } from './random.ts';
import { type Measured, run } from './run.ts';
import { hotGroup } from './scenarios/hot-group.ts';
import { reconnectStorm } from './scenarios/reconnect-storm.ts';
import { steady } from './scenarios/steady.ts';
import { printTable } from './table.ts';
import { Target } from './target.ts';

const SCENARIOS = [steady, hotGroup, reconnectStorm] as const;
const NAMED_MAX = 10;
const PREFIX_BYTES = 4;

async function main({ scenario, scale, seed, gateways, file }: Options): Promise<boolean> {
  const random = randomOf(seed);
  const cast = new Casting(`${randomBytes(PREFIX_BYTES).toString('hex')}-`, random);
  scenario.cast(cast, scale);
  const target = gateways === null ? await Target.start() : Target.at(gateways.urls, gateways);
  try {
    const measured = await run({ target, cast, random, scenario, scale });
    const { figures, times, verdict } = measured;
    console.log(`${scenario.name}: ${scenario.question}\n`);
    printTable(figures);
    console.log('');
    printTimes(times);
    console.log('');
    const { users, devices, rows, wrong } = verdict;
    console.log(`${wrong.length} wrong: ${devices} devices and ${rows} rows of ${users} users were compared`);
    for (const text of wrong.slice(0, NAMED_MAX)) console.log(`wrong: ${text}`);
    if (file !== null)
      writeFileSync(file, json(scenario.name, { scale, seed, gateways: target.urls.length }, measured));
    return wrong.length === 0;
  } finally {
    await target.stop();
  }
}

function printTimes(times: Readonly<Record<string, Quantiles>>): void {
  const width = Math.max(...Object.keys(times).map((name) => name.length));
  const columns = ['count', 'p50', 'p90', 'p95', 'p99', 'p999', 'max'] as const;
  const cell = (value: number, unit: boolean): string => (unit ? value.toFixed(1) : String(value)).padStart(10);
  console.log(`${'times (ms)'.padEnd(width)}${columns.map((name) => name.padStart(10)).join('')}`);
  for (const [name, quantiles] of Object.entries(times)) {
    console.log(
      `${name.padEnd(width)}${columns.map((column) => cell(quantiles[column], column !== 'count')).join('')}`,
    );
  }
}

function json(scenario: string, asked: object, { figures, times, verdict }: Measured): string {
  return `${JSON.stringify({ scenario, ...asked, ...circumstances(), figures, times, verdict }, null, 2)}\n`;
}

try {
  process.exitCode = (await main(readOptions(SCENARIOS, process.argv.slice(2)))) ? 0 : 1;
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 2;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${messageOf(error.cause)}`;
}
